// The operator's facts about the sale and its chain. They come from the service, so changing them needs no new build.
import type { Deployment } from '@node-ledger/client'
import { useDeployment } from './ledger.ts'
import { fill } from './words/message.ts'
import { ui } from './words/ui.ts'

/** The name of a sale whose operator has set none. */
export const OWN_NAME = 'Node Ledger'

/** The kinds of pages that an explorer has. */
export type Explored = 'tx' | 'address' | 'block'

export interface Site {
  /** The name of the sale. */
  name: string
  logoUrl: string
  contact: string | null
  termsUrl: string | null
  /** The chain's display name: "Ethereum (chain 1)"; null until we have it. */
  chain: string | null
  /** The URL of an explorer's page; null if the service names no explorer. */
  explorer: (kind: Explored, id: string) => string | null
}

/** The facts that the service wrote into the page's head, so that nothing changes after the first request. */
interface Served {
  name: string
  logoUrl: string
  chain: string | null
}

const SERVED = readHead()

function readHead(): Served {
  const text = document.querySelector<HTMLMetaElement>('meta[name="node-ledger:sale"]')?.content
  return text ? (JSON.parse(text) as Served) : { name: OWN_NAME, logoUrl: '/icon.svg', chain: null }
}

/** The facts from the service; until it answers, from the page's head. */
export function useSite(): Site {
  const { data } = useDeployment()
  const { name, logoUrl, contact, termsUrl } = data?.brand ?? { ...SERVED, contact: null, termsUrl: null }
  return {
    name: name ?? OWN_NAME,
    logoUrl: logoUrl ?? '/icon.svg',
    contact,
    termsUrl,
    chain: data ? chainInWords(data) : SERVED.chain,
    explorer: (kind, id) => (data?.explorerUrl ? `${data.explorerUrl}/${kind}/${id}` : null),
  }
}

/** A chain by its name, if it has one, and its ID. */
export const chainInWords = ({ chainName, chainId }: Pick<Deployment, 'chainName' | 'chainId'>): string =>
  chainName === null
    ? fill(ui.page.chain, { id: String(chainId) })
    : fill(ui.page.namedChain, { name: chainName, id: String(chainId) })
