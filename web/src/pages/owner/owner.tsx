// The owner's own page: sign in, what the nodes hold, withdraw, and rescue what the ledger has missed. In a frame there is no session, and the
// connected wallet's nodes are shown by public reads.
import type { Node, Wallet } from '@node-ledger/client'
import { signIn } from '@node-ledger/client/viem'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { isFramed } from '../../frame.ts'
import { ledger, notBefore, queries } from '../../ledger.ts'
import { useNodesOf } from '../../live.ts'
import { Address } from '../../ui/facts.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { saveFile } from '../../ui/save.ts'
import { SignInLink } from '../../ui/sign-in.tsx'
import { Empty, Failed, Shown } from '../../ui/states.tsx'
import { WalletArea } from '../../wallet/area.tsx'
import { Connect } from '../../wallet/connect.tsx'
import { saidByWallet, sentenceOfWallet } from '../../wallet/errors.ts'
import { type ConnectedWallet, useWallet } from '../../wallet/use-wallet.ts'
import { fill, rich } from '../../words/message.ts'
import { words } from '../../words/owner.ts'
import { NodesTable, Totals } from '../ledger/address.tsx'
import { PaymentsOf } from '../payment/payments.tsx'
import { Direct, WithdrawSection } from './direct.tsx'

const ME = ['me'] as const
/** Behind a session nothing is cached: asked a little less often than public pages. */
const ME_EVERY_MS = 10_000

export function Owner() {
  return (
    <Page title={words.title} lead={words.lead}>
      <WalletArea>{isFramed ? <InFrame /> : <SignedInOrNot />}</WalletArea>
    </Page>
  )
}

function SignedInOrNot() {
  const me = useQuery({
    queryKey: ME,
    queryFn: ({ signal }) => readMe(signal),
    refetchInterval: notBefore(() => ME_EVERY_MS),
  })
  return (
    <>
      <Shown reading={me} lines={6}>
        {(wallet) => (wallet === null ? <SignIn /> : <Mine me={wallet} isStale={me.isError} />)}
      </Shown>
      {me.isError && !me.data && <Direct />}
    </>
  )
}

/** The session itself is in a cookie that scripts cannot see; this only says that there may be one, and saves asking in vain. */
const SIGNED_IN = 'signedIn'

/** True once the service has forgotten a session of this browser, until the next one. */
let hasLapsed = false

async function readMe(signal: AbortSignal): Promise<Wallet | null> {
  if (localStorage.getItem(SIGNED_IN) === null) return null
  const me = await ledger.getMe({ signal })
  if (me === null) {
    localStorage.removeItem(SIGNED_IN)
    hasLapsed = true
  }
  return me
}

function SignIn() {
  const wallet = useWallet()
  const sign = useMutation({
    mutationFn: async (owner: ConnectedWallet) => signIn(ledger, await owner.open()),
    onSuccess: () => {
      localStorage.setItem(SIGNED_IN, 'yes')
      hasLapsed = false
      return queries.invalidateQueries({ queryKey: ME })
    },
  })
  const [direct, setDirect] = useState(false)
  return (
    <>
      <Section title={words.signIn}>
        <div className="stack narrow">
          {hasLapsed && (
            <p className="notice warn" role="status">
              {words.lapsed}
            </p>
          )}
          <p>{words.why}</p>
          <Connect />
          {wallet && (
            <button
              type="button"
              className="button main wide"
              disabled={sign.isPending}
              onClick={() => sign.mutate(wallet)}
            >
              {sign.isPending ? words.signing : words.signIn}
            </button>
          )}
          {sign.error && (
            <Failed error={saidByWallet(sign.error)} retry={wallet ? () => sign.mutate(wallet) : undefined} />
          )}
          <p className="note">
            {rich(words.onlyLooking, {
              page: (text) => <Link href={wallet ? `/address/${wallet.address}` : '/'}>{text}</Link>,
            })}
          </p>
          {!direct && (
            <button type="button" className="button quiet wide" onClick={() => setDirect(true)}>
              {words.withoutSession}
            </button>
          )}
        </div>
      </Section>
      {direct && <Direct />}
    </>
  )
}

/** `isStale`: the service does not answer just now, and `me` is what it said last. */
function Mine({ me, isStale }: { me: Wallet; isStale: boolean }) {
  const wallet = useWallet()
  const signOut = useMutation({
    mutationFn: () => ledger.logout(),
    onSuccess: () => {
      localStorage.removeItem(SIGNED_IN)
      queries.setQueryData(ME, null)
    },
  })
  return (
    <>
      <div className="bar">
        <span>{rich(words.signedInAs, { address: <Address of={me.address} /> })}</span>
        <button type="button" className="button quiet" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
          {words.signOut}
        </button>
      </div>
      {wallet && wallet.address !== me.address && (
        <p className="notice warn">{fill(words.otherWallet, { address: wallet.address })}</p>
      )}
      <Totals nodes={me.nodes} balanceNote={words.withdrawable} />
      <Unrecorded ids={me.unrecordedNodeIds} />
      <WithdrawSection owner={me.address} nodes={me.nodes} wallet={wallet} isStale={isStale} />
      <Nodes nodes={me.nodes} aside={<Download me={me} />} />
      <PaymentsOf address={me.address} />
    </>
  )
}

/** In a frame: the nodes of the wallet that is connected, by public reads. */
function InFrame() {
  const wallet = useWallet()
  if (!wallet) {
    return (
      <Section title={words.yourWallet}>
        <div className="stack narrow">
          <p>{words.connectOwner}</p>
          <Connect />
        </div>
      </Section>
    )
  }
  return <OfWallet wallet={wallet} />
}

function OfWallet({ wallet }: { wallet: ConnectedWallet }) {
  const reading = useNodesOf(wallet.address)
  return (
    <>
      <Connect />
      <Shown reading={reading} lines={6}>
        {(nodes) => (
          <>
            <Totals nodes={nodes} balanceNote={words.withdrawable} />
            <WithdrawSection owner={wallet.address} nodes={nodes} wallet={wallet} isStale={reading.isError} />
            <Nodes nodes={nodes} />
          </>
        )}
      </Shown>
      {reading.isError && !reading.data && <Direct />}
      <PaymentsOf address={wallet.address} />
      <p className="note">{rich(words.frame, { signIn: (text) => <SignInLink>{text}</SignInLink> })}</p>
    </>
  )
}

function Nodes({ nodes, aside }: { nodes: readonly Node[]; aside?: ReactNode }) {
  return (
    <Section title={fill(words.nodes, { n: nodes.length })} aside={nodes.length > 0 && aside}>
      {nodes.length === 0 ? (
        <Empty title={words.noNode}>
          <Link href="/buy">{words.buyOne}</Link>
        </Empty>
      ) : (
        <>
          <NodesTable nodes={nodes} />
          {nodes.some(({ balanceWei }) => balanceWei > 0n) && <p className="note">{words.carries}</p>}
        </>
      )}
    </Section>
  )
}

/** Nodes that the chain shows and the ledger does not. */
function Unrecorded({ ids }: { ids: readonly string[] | null }) {
  const record = useMutation({
    mutationFn: async (nodeIds: readonly string[]) => {
      for (const nodeId of nodeIds) await ledger.syncNode({ nodeId })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ME }),
  })
  if (ids === null) return <p className="note">{words.unchecked}</p>
  if (ids.length === 0) return null
  return (
    <div className="notice warn" role="alert">
      <p>
        {fill(words.unrecorded, { n: ids.length, ids: ids.join(', ') })}
        {record.error && ` ${sentenceOfWallet(record.error)}`}
      </p>
      <button type="button" className="button" disabled={record.isPending} onClick={() => record.mutate(ids)}>
        {record.isPending ? words.recording : words.record}
      </button>
    </div>
  )
}

/** As many of each list as the service gives; more come from the operator, or from the chain. */
const LISTED_MAX = 200

/** Credits and withdrawals of all nodes as CSV, made here from what the API says. */
function Download({ me }: { me: Wallet }) {
  const make = useMutation({
    mutationFn: async () => {
      const details = await Promise.all(me.nodes.map(({ nodeId }) => ledger.getNode(nodeId, { limit: LISTED_MAX })))
      const rows = details.flatMap((node) => [
        ...node.credits.map((row) => [
          'credit',
          node.nodeId,
          row.createdAt,
          row.amountWei,
          `round ${row.distributionId}`,
        ]),
        ...node.withdrawals
          .filter(({ status }) => status !== 'failed')
          .map((row) => ['withdrawal', node.nodeId, row.confirmedAt, row.amountWei, row.txHash ?? '']),
      ])
      const lines = rows.map((row) =>
        row.map((cell) => (cell instanceof Date ? cell.toISOString() : String(cell ?? ''))).join(','),
      )
      saveFile(['kind,nodeId,time,amountWei,reference', ...lines].join('\r\n'), `nodes-${me.address}.csv`, 'text/csv')
    },
  })
  return (
    <button type="button" className="button quiet" disabled={make.isPending} onClick={() => make.mutate()}>
      {make.isError ? words.csvFailed : fill(words.csv, { max: LISTED_MAX })}
    </button>
  )
}
