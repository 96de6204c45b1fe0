// What an owner's nodes earned and paid out, entry by entry, each at that hour's ether price: as a table and as a file.
import type { Node, NodeDetail } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { dollars, etherAsNumber, plainEther } from '../../format.ts'
import { ledger } from '../../ledger.ts'
import { Hash, Unknown } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { saveFile } from '../../ui/save.ts'
import { Empty, Shown } from '../../ui/states.tsx'
import { amountColumn, type Column, Table, timeColumn } from '../../ui/table.tsx'
import { words as ledgerWords } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'
import { words } from '../../words/owner.ts'

const t = words.history
/** How many entries of each list the service returns at most. The others are on chain, and the operator has it. */
const LISTED_MAX = 200
/** How many nodes we show at most, because each takes a request. */
const NODES_MAX = 50
/** How many requests run at a time. Up to this many nodes load without a click. */
const AT_ONCE = 5

/** A credit or a withdrawal of a node. */
interface Entry {
  key: string
  nodeId: string
  at: Date | null
  amountWei: bigint
  /** Null if the service does not know the ether price of that time. */
  usdPerEther: number | null
  /** The round of a credit; the transaction of a withdrawal. */
  reference: { round: number } | { txHash: string | null }
}

/** The newest entries of the newest nodes. */
export function History({ nodes, owner }: { nodes: readonly Node[]; owner: string }) {
  const [isWanted, want] = useState(false)
  const nodeIds = nodes.slice(-NODES_MAX).map(({ nodeId }) => nodeId)
  const isRead = isWanted || nodeIds.length <= AT_ONCE
  const state = nodes.reduce((sum, { creditedWei, withdrawnWei }) => sum + creditedWei + withdrawnWei, 0n)
  const reading = useQuery<Entry[], Error>({
    // A new entry triggers another request.
    queryKey: ['history', owner, String(state), nodeIds.length],
    queryFn: () => entriesOf(nodeIds),
    enabled: isRead,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  })
  if (nodes.length === 0) return null
  return (
    <Section
      title={t.title}
      aside={reading.data && reading.data.length > 0 && <Save entries={reading.data} owner={owner} />}
    >
      {isRead ? (
        <Shown reading={reading} lines={4}>
          {(entries) => <Entries entries={entries} isPart={nodes.length > NODES_MAX} />}
        </Shown>
      ) : (
        <button type="button" className="button" onClick={() => want(true)}>
          {t.show}
        </button>
      )}
    </Section>
  )
}

function Entries({ entries, isPart }: { entries: readonly Entry[]; isPart: boolean }) {
  if (entries.length === 0) return <Empty title={t.none} />
  const notes = [
    entries.length >= LISTED_MAX && fill(t.limits, { entries: LISTED_MAX }),
    isPart && fill(t.nodes, { nodes: NODES_MAX }),
    entries.some(isPriced) && t.worthOf,
  ].filter(Boolean)
  return (
    <div className="stack">
      <Table caption={t.title} rows={entries} keyOf={({ key }) => key} columns={columnsOf(entries)} first={5} />
      {notes.length > 0 && <p className="note">{notes.join(' ')}</p>}
    </div>
  )
}

const isPriced = ({ usdPerEther }: Entry) => usdPerEther !== null
const worth = ({ amountWei, usdPerEther }: Entry) => dollars(amountWei, usdPerEther)

const COLUMNS: readonly Column<Entry>[] = [
  timeColumn(t.when, ({ at }) => at),
  {
    heading: t.what,
    isPlain: true,
    cell: ({ reference }) =>
      'round' in reference
        ? rich(t.credit, {
            id: String(reference.round),
            round: (text) => <Link href={`/round/${reference.round}`}>{text}</Link>,
          })
        : rich(t.withdrawal, { hash: <Hash of={reference.txHash} /> }),
  },
  {
    heading: t.node,
    isPlain: true,
    cell: ({ nodeId }) => <Link href={`/node/${nodeId}`}>{fill(ledgerWords.node.title, { id: nodeId })}</Link>,
  },
  amountColumn(t.amount, ({ amountWei }) => amountWei, true),
]
const WORTH: Column<Entry> = {
  heading: t.worth,
  figure: true,
  cell: (entry) => worth(entry) ?? <Unknown why={t.noPrice} />,
}
/** The columns. The dollar column appears only if some price is known, because many services have no price feed. */
const columnsOf = (entries: readonly Entry[]) => (entries.some(isPriced) ? [...COLUMNS, WORTH] : COLUMNS)

async function entriesOf(nodeIds: readonly string[]): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let from = 0; from < nodeIds.length; from += AT_ONCE) {
    const some = nodeIds.slice(from, from + AT_ONCE).map((nodeId) => ledger.getNode(nodeId, { limit: LISTED_MAX }))
    for (const node of await Promise.all(some)) entries.push(...entriesIn(node))
  }
  return entries.sort((a, b) => (b.at?.getTime() ?? 0) - (a.at?.getTime() ?? 0))
}

/** A node's entries, without failed withdrawals, because they moved nothing. */
function entriesIn({ nodeId, credits, withdrawals }: NodeDetail): Entry[] {
  return [
    ...credits.map(({ id, createdAt: at, distributionId: round, ...rest }) => ({
      key: `credit ${nodeId} ${id}`,
      nodeId,
      at,
      reference: { round },
      ...rest,
    })),
    ...withdrawals
      .filter(({ status }) => status !== 'failed')
      .map(({ id, createdAt: at, txHash, amountWei, usdPerEther }) => ({
        key: `withdrawal ${id}`,
        nodeId,
        at,
        amountWei,
        usdPerEther,
        reference: { txHash },
      })),
  ]
}

/** The table as CSV, for other programs: amounts and times have the same format in every locale. */
function Save({ entries, owner }: { entries: readonly Entry[]; owner: string }) {
  const save = () => {
    const lines = entries.map(({ reference, nodeId, at, amountWei, usdPerEther }) => [
      'round' in reference ? 'credit' : 'withdrawal',
      nodeId,
      at?.toISOString() ?? '',
      amountWei,
      plainEther(amountWei),
      usdPerEther ?? '',
      usdPerEther === null ? '' : (etherAsNumber(amountWei) * usdPerEther).toFixed(2),
      'round' in reference ? `round ${reference.round}` : (reference.txHash ?? ''),
    ])
    const head = 'kind,nodeId,time,amountWei,amountEther,usdPerEther,amountUsd,reference'
    saveFile([head, ...lines.map((line) => line.join(','))].join('\r\n'), `nodes-${owner}.csv`, 'text/csv')
  }
  return (
    <button type="button" className="button" onClick={save}>
      {t.csv}
    </button>
  )
}
