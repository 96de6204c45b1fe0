// The Safe around this page's frame, by wagmi's connector and Safe's own library, which asks it by postMessage. Loaded in a frame only. Which
// pages may be around it is the content security policy's to say (`FRAME_ANCESTORS`); the library takes messages of the page around alone.
import { safe } from 'wagmi/connectors'

/** Limit for the page around to say which Safe it is, in milliseconds. One that is none never answers. */
const ANSWER_MS = 5_000

/** The connector. */
export const safeAround = () => safe({ unstable_getInfoTimeout: ANSWER_MS })
