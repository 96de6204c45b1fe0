// The search on every page. The form of the text decides what it means.
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { cleanPaste, HASH } from '../format.ts'
import { ledger } from '../ledger.ts'
import { fill } from '../words/message.ts'
import { ui } from '../words/ui.ts'

/** An ENS name: labels with dots between them. */
const NAME = /^[^\s./:#]+(\.[^\s./:#]+)+$/u
const NUMBERED = /^(node|round|runde)?\s*#?\s*([1-9][0-9]*)$/i

/** The page of a node ("3", "node 3"), a round ("round 7"), a transaction or an address. For any other text, the address page, which rejects it. */
async function pageOf(text: string): Promise<string> {
  const [, kind = 'node', number] = NUMBERED.exec(text) ?? []
  if (number) return `/${/^r/i.test(kind) ? 'round' : 'node'}/${number}`
  if (!HASH.test(text)) return `/address/${encodeURIComponent(text)}`
  return pageOfTransaction(text.toLowerCase())
}

/**
 * The page of a transaction. If it did several things, the page of the first. If the ledger does not have it, the page of a payment, because it may
 * be a pending one.
 */
async function pageOfTransaction(txHash: string): Promise<string> {
  const did = await ledger.getTransaction(txHash, { attempts: 1 }).catch(() => null)
  const [node = did?.withdrawnNodeIds[0]] = did?.mintedNodeIds ?? []
  const [round] = did?.rounds ?? []
  const [refundedHash] = did?.refundedTxHashes ?? []
  if (did?.isPayment) return `/payment/${txHash}`
  if (round !== undefined) return `/round/${round}`
  if (node !== undefined) return `/node/${node}`
  return `/payment/${refundedHash ?? txHash}`
}

/** The page of the address that a name resolves to, or why there is none. */
async function pageOfName(name: string): Promise<{ path: string } | { why: string }> {
  const result = await import('../ens.ts').then(({ findName }) => findName(name)).catch(() => 'notAsked' as const)
  return typeof result === 'object'
    ? { path: `/address/${result.address}` }
    : { why: fill(ui.search[result], { name }) }
}

/** The search field. */
export function Search() {
  const [, navigate] = useLocation()
  const [why, setWhy] = useState<string | null>(null)
  const find = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const text = cleanPaste(String(new FormData(form).get('sought')))
    if (text === '') return
    setWhy(null)
    const target = NAME.test(text) ? await pageOfName(text) : { path: await pageOf(text) }
    if ('why' in target) return setWhy(target.why)
    form.reset()
    navigate(target.path)
  }
  return (
    <search id="search" className="search">
      <form onSubmit={(event) => void find(event)}>
        <Lens size={16} />
        <input name="sought" type="search" placeholder={ui.search.placeholder} aria-label={ui.search.label} />
      </form>
      <p role="status" className={why === null ? 'visually-hidden' : 'note'}>
        {why}
      </p>
    </search>
  )
}

export const Lens = ({ size }: { size: number }) => (
  <svg viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
    <path d="M10.5 10.5L14 14M7 12A5 5 0 1 1 7 2a5 5 0 0 1 0 10z" />
  </svg>
)
