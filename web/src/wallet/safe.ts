// The Safe around this page's frame, through wagmi's connector and Safe's own library, which uses postMessage. Loads in a frame only. The content
// security policy decides which pages may be around it (`FRAME_ANCESTORS`), and the library takes messages from the page around alone.
import { safe } from 'wagmi/connectors'

/** Time for the page around to say which Safe it is, in milliseconds. If it is none, it never answers. */
const ANSWER_MS = 5_000

/** The connector. */
export const safeAround = () => safe({ unstable_getInfoTimeout: ANSWER_MS })
