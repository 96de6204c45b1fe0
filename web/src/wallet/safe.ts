// The Safe around this page's frame, through wagmi's connector and Safe's own library, which uses postMessage. Loaded only in a frame. The content
// security policy decides which pages may frame this one (`FRAME_ANCESTORS`), and the library accepts messages only from the framing page.
import { safe } from 'wagmi/connectors'

/** How long the framing page may take to report which Safe it is, in milliseconds. A page that is not a Safe never answers. */
const ANSWER_MS = 5_000

/** The connector for wagmi. */
export const safeAround = () => safe({ unstable_getInfoTimeout: ANSWER_MS })
