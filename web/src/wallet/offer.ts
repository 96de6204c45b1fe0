// What pages know of the connector for wallets on other devices (elsewhere.ts) before it is loaded.
import type { Connector } from 'wagmi'

/** Its type, by which it is known. */
export const ELSEWHERE = 'walletConnect'

/** What a page may do with it besides. */
export interface Offer {
  /** The text that a wallet reads to agree, while there is one. */
  offered: () => string | null
  /** Nobody looks at the offer any more. */
  withdrawOffer: () => void
}

/** True of this connector. */
export const isElsewhere = (connector: Connector): connector is Connector & Offer => connector.type === ELSEWHERE
