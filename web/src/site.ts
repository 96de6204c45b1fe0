// What the operator says of the sale and its chain, as the pages use it: from the service, so that a change takes no new build.
import type { Deployment } from '@node-ledger/client'
import { useDeployment } from './ledger.ts'
import { fill } from './words/message.ts'
import { ui } from './words/ui.ts'

/** The name of a sale that has none of its own. */
export const OWN_NAME = 'Node Ledger'

/** What an explorer has pages of. */
export type Explored = 'tx' | 'address' | 'block'

export interface Site {
  /** Whose sale it is. */
  name: string
  logoUrl: string
  /** `#` and six hex digits; null: the pages' own. */
  color: string | null
  contact: string | null
  termsUrl: string | null
  /** The chain for people: "Ethereum (chain 1)"; null until it is known. */
  chain: string | null
  /** An explorer's page; null where the service names no explorer. */
  explorer: (kind: Explored, id: string) => string | null
}

/** What the service has written into the page's head, so that nothing changes once it is asked. */
interface Served {
  name: string
  logoUrl: string
  color: string | null
}

const SERVED = served()

function served(): Served {
  const text = document.querySelector<HTMLMetaElement>('meta[name="node-ledger:sale"]')?.content
  return text ? (JSON.parse(text) as Served) : { name: OWN_NAME, logoUrl: '/icon.svg', color: null }
}

/** As the service says; until it is asked, as the page's head does. */
export function useSite(): Site {
  const { data } = useDeployment()
  const { name, logoUrl, color, contact, termsUrl } = data?.brand ?? { ...SERVED, contact: null, termsUrl: null }
  return {
    name: name ?? OWN_NAME,
    logoUrl: logoUrl ?? '/icon.svg',
    color,
    contact,
    termsUrl,
    chain: data ? chainInWords(data) : null,
    explorer: (kind, id) => (data?.explorerUrl ? `${data.explorerUrl}/${kind}/${id}` : null),
  }
}

/** A chain by its name, where it has one, and its id. */
export const chainInWords = ({ chainName, chainId }: Pick<Deployment, 'chainName' | 'chainId'>): string =>
  chainName === null
    ? fill(ui.page.chain, { id: String(chainId) })
    : fill(ui.page.namedChain, { name: chainName, id: String(chainId) })
