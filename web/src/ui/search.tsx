// The search of every page: what was entered says by its form what it is.
import type { FormEvent } from 'react'
import { useLocation } from 'wouter'
import { HASH } from '../format.ts'
import { ledger } from '../ledger.ts'
import { ui } from '../words/ui.ts'

const NUMBERED = /^(node|round|runde)?\s*#?\s*([1-9][0-9]*)$/i

/** The page of a node ("3", "node 3"), a round ("round 7"), a transaction or an address. What is none of them goes to the address page, which says so. */
async function pageOf(sought: string): Promise<string> {
  const [, kind = 'node', number] = NUMBERED.exec(sought) ?? []
  if (number) return `/${/^r/i.test(kind) ? 'round' : 'node'}/${number}`
  if (!HASH.test(sought)) return `/address/${encodeURIComponent(sought)}`
  return pageOfTransaction(sought.toLowerCase())
}

/** Where a transaction did several things, the page of the first. What the ledger does not know may be a payment on its way. */
async function pageOfTransaction(txHash: string): Promise<string> {
  const did = await ledger.getTransaction(txHash, { attempts: 1 }).catch(() => null)
  const [node = did?.withdrawnNodeIds[0]] = did?.mintedNodeIds ?? []
  const [round] = did?.rounds ?? []
  const [refunded] = did?.refundedTxHashes ?? []
  if (did?.isPayment) return `/payment/${txHash}`
  if (round !== undefined) return `/round/${round}`
  if (node !== undefined) return `/node/${node}`
  return `/payment/${refunded ?? txHash}`
}

/** The field. */
export function Search() {
  const [, navigate] = useLocation()
  const find = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const sought = String(new FormData(form).get('sought')).trim()
    if (sought === '') return
    form.reset()
    navigate(await pageOf(sought))
  }
  return (
    <search id="search">
      <form onSubmit={(event) => void find(event)}>
        <input name="sought" type="search" placeholder={ui.search.placeholder} aria-label={ui.search.label} />
      </form>
    </search>
  )
}
