// The search of every page: what was entered says by its form what it is.
import type { FormEvent } from 'react'
import { useLocation } from 'wouter'
import { HASH } from '../format.ts'
import { ledger, queries } from '../ledger.ts'
import { ui } from '../words/ui.ts'

/** As many rounds as the service lists. */
const ROUNDS = 200
const NUMBERED = /^(node|round|runde)?\s*#?\s*([1-9][0-9]*)$/i

/** The page of a node ("3", "node 3"), a round ("round 7"), a transaction or an address. What is none of them goes to the address page, which says so. */
async function pageOf(sought: string): Promise<string> {
  const [, kind = 'node', number] = NUMBERED.exec(sought) ?? []
  if (number) return `/${/^r/i.test(kind) ? 'round' : 'node'}/${number}`
  if (!HASH.test(sought)) return `/address/${encodeURIComponent(sought)}`
  const round = await roundOf(sought.toLowerCase())
  return round === null ? `/payment/${sought}` : `/round/${round}`
}

/** The round that a transaction credited; null where none of those listed is, or they could not be read. */
async function roundOf(txHash: string): Promise<number | null> {
  const rounds = await queries
    .fetchQuery({
      queryKey: ['rounds', ROUNDS],
      queryFn: ({ signal }) => ledger.getDistributions({ limit: ROUNDS, signal, attempts: 1 }),
    })
    .catch(() => [])
  return rounds.find((round) => round.txHash === txHash)?.id ?? null
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
