// The owner's own page: the nodes' balance, withdrawing, and recording nodes that the ledger missed. Only recording
// needs a session. Without a session, as in a frame, the page shows the connected wallet's nodes by public reads.
import type { Node, Wallet } from '@node-ledger/client'
import { signIn } from '@node-ledger/client/viem'
import { useMutation, useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, Suspense, useContext, useRef, useState } from 'react'
import { Link } from 'wouter'
import { isFramed } from '../../frame.ts'
import { kept } from '../../kept.ts'
import { ledger, notBefore, queries } from '../../ledger.ts'
import { useNodesOf } from '../../live.ts'
import { Boundary, later } from '../../ui/boundary.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Address, Whole } from '../../ui/facts.tsx'
import { Into, Page, Section } from '../../ui/page.tsx'
import { SignInLink } from '../../ui/sign-in.tsx'
import { Empty, Failed, Shown, Waiting } from '../../ui/states.tsx'
import { WalletArea } from '../../wallet/area.tsx'
import { Connect } from '../../wallet/connect.tsx'
import { readableError, sentenceOfWallet } from '../../wallet/errors.ts'
import { type ConnectedWallet, useWallet } from '../../wallet/use-wallet.ts'
import { fill, rich } from '../../words/message.ts'
import { words } from '../../words/owner.ts'
import { NodesTable } from '../ledger/nodes.tsx'
import { WithdrawSection } from './withdraw.tsx'

// What is below the nodes. It loads with the nodes; withdrawing is here from the start, whatever becomes of the service.
const PaymentsOf = later(async () => (await import('../payment/payments.tsx')).PaymentsOf)
const Gifts = later(async () => (await import('./gifts.tsx')).Gifts)
const History = later(async () => (await import('./history.tsx')).History)
const Referrals = later(async () => (await import('./referrals.tsx')).Referrals)

const ME = ['me'] as const
/**
 * How often we poll with a session, in milliseconds. The service caches nothing there, so we poll a little less often
 * than on public pages.
 */
const ME_EVERY_MS = 10_000

/** Where, beside the file that works without this site, the parts that need a wallet go. */
const Beside = createContext<HTMLElement | null>(null)

export function Owner() {
  const [beside, setBeside] = useState<HTMLElement | null>(null)
  return (
    <Page title={words.title} lead={words.lead}>
      <Beside value={beside}>
        <WalletArea>{isFramed ? <InFrame /> : <SignedInOrNot />}</WalletArea>
      </Beside>
      <div className="beside">
        <div ref={setBeside} />
        <Kept />
      </div>
    </Page>
  )
}

/** Parts at the end of the page. */
function AtEnd({ children }: { children: ReactNode }) {
  const place = useContext(Beside)
  return (
    <Into place={place}>
      <Below>{children}</Below>
    </Into>
  )
}

function SignedInOrNot() {
  const me = useQuery({
    queryKey: ME,
    queryFn: ({ signal }) => readMe(signal),
    refetchInterval: notBefore(() => ME_EVERY_MS),
  })
  // If the session ends, the page keeps everything that it shows or that was entered.
  const last = useRef<Wallet | null>(null)
  if (me.data) last.current = me.data
  return (
    <Shown reading={me} lines={6}>
      {(wallet) => {
        const current = wallet ?? (hasLapsed ? last.current : null)
        return current === null ? (
          <SignIn />
        ) : (
          <Mine me={current} isStale={me.isError || wallet === null} hasEnded={wallet === null} />
        )
      }}
    </Shown>
  )
}

/** The page that works without the service. Owners save it while the service is up. */
function Kept() {
  const digest = useQuery({
    queryKey: ['digest'],
    queryFn: async () => (await (await fetch('/.well-known/withdraw.sha256')).text()).split(' ')[0] ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Section title={words.kept.title}>
      <p>{rich(words.kept.why, { file: (text) => <a href="/withdraw.html">{text}</a> })}</p>
      {digest.data && (
        <details className="checked">
          <summary>{words.kept.digest}</summary>
          <p className="note">
            <Whole of={digest.data} /> <CopyButton text={digest.data} what={words.kept.theDigest} />
          </p>
        </details>
      )}
    </Section>
  )
}

/**
 * Stored while there may be a session, which saves a pointless request. The session itself is in a cookie that scripts
 * cannot see.
 */
const SIGNED_IN = 'signedIn'

/** True after the service has ended a session of this browser, until there is a new session. */
let hasLapsed = false

async function readMe(signal: AbortSignal): Promise<Wallet | null> {
  if (kept.getItem(SIGNED_IN) === null) return null
  const me = await ledger.getMe({ signal })
  if (me === null) {
    kept.removeItem(SIGNED_IN)
    hasLapsed = true
  }
  return me
}

function SignIn() {
  const wallet = useWallet()
  if (wallet && !hasLapsed)
    return (
      <>
        <Connect />
        <OfWallet wallet={wallet} />
        <AtEnd>
          <Section title={words.signIn}>
            <Why wallet={wallet} />
          </Section>
        </AtEnd>
      </>
    )
  return (
    <AtEnd>
      <Section title={words.yourWallet}>
        <div className="stack">
          {hasLapsed && (
            <p className="notice warn" role="status">
              {words.lapsed}
            </p>
          )}
          {!wallet && <p>{words.connectOwner}</p>}
          <Connect />
          {wallet && <Why wallet={wallet} />}
        </div>
      </Section>
    </AtEnd>
  )
}

/** What signing in is for, and what works without. */
const Why = ({ wallet }: { wallet: ConnectedWallet }) => (
  <div className="stack">
    <p className="note">{words.why}</p>
    <SignInWith wallet={wallet} />
  </div>
)

function SignInWith({ wallet }: { wallet: ConnectedWallet }) {
  const sign = useMutation({
    mutationFn: async () => signIn(ledger, await wallet.open()),
    onSuccess: () => {
      kept.setItem(SIGNED_IN, 'yes')
      hasLapsed = false
      return queries.invalidateQueries({ queryKey: ME })
    },
  })
  return (
    <>
      <p>
        <button type="button" className="button" disabled={sign.isPending} onClick={() => sign.mutate()}>
          {sign.isPending ? words.signing : words.signIn}
        </button>
      </p>
      {sign.error && <Failed error={readableError(sign.error)} retry={() => sign.mutate()} />}
    </>
  )
}

/** Shows on the page that the session has ended, also above an open withdrawal form, which needs no session. */
function Ended({ wallet }: { wallet: ConnectedWallet | null }) {
  return (
    <div className="notice warn">
      <div className="stack">
        <p role="status">{words.ended}</p>
        {wallet && <SignInWith wallet={wallet} />}
      </div>
    </div>
  )
}

interface MineProps {
  me: Wallet
  /** True if the service does not answer at the moment, or rejects this browser. `me` is then its last answer. */
  isStale: boolean
  /** True if the session has ended since the page opened. */
  hasEnded: boolean
}

function Mine({ me, isStale, hasEnded }: MineProps) {
  const wallet = useWallet()
  const signOut = useMutation({
    mutationFn: () => ledger.logout(),
    onSuccess: () => {
      kept.removeItem(SIGNED_IN)
      hasLapsed = false
      queries.setQueryData(ME, null)
    },
  })
  return (
    <>
      <div className="connected">
        <span>{rich(words.signedInAs, { address: <Address of={me.address} /> })}</span>
        <button type="button" className="button quiet" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
          {words.signOut}
        </button>
      </div>
      {wallet && wallet.address !== me.address && (
        <p className="notice warn">{fill(words.otherWallet, { address: wallet.address })}</p>
      )}
      <Unrecorded ids={me.unrecordedNodeIds} />
      {hasEnded && <Ended wallet={wallet} />}
      <WithdrawSection
        owner={me.address}
        nodes={me.nodes}
        wallet={wallet}
        isStale={isStale}
        notice={hasEnded && <Ended wallet={wallet} />}
      />
      <Nodes nodes={me.nodes} />
      <AtEnd>{wallet?.address === me.address && <Gifts wallet={wallet} />}</AtEnd>
      <Below>
        <History nodes={me.nodes} owner={me.address} />
        <PaymentsOf address={me.address} />
        {!hasEnded && <Referrals owner={me.address} />}
      </Below>
    </>
  )
}

/** The page in a frame, which has no session. */
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
  return (
    <>
      <Connect />
      <OfWallet wallet={wallet} />
      <p className="note">{rich(words.frame, { signIn: (text) => <SignInLink>{text}</SignInLink> })}</p>
    </>
  )
}

/** The connected wallet's nodes, by public reads. */
function OfWallet({ wallet }: { wallet: ConnectedWallet }) {
  const reading = useNodesOf(wallet.address)
  return (
    <>
      <Shown reading={reading} lines={6}>
        {(nodes) => (
          <>
            <WithdrawSection owner={wallet.address} nodes={nodes} wallet={wallet} isStale={reading.isError} />
            <Nodes nodes={nodes} />
            <Below>
              <History nodes={nodes} owner={wallet.address} />
            </Below>
          </>
        )}
      </Shown>
      <Below>
        <PaymentsOf address={wallet.address} />
      </Below>
      <AtEnd>
        <Gifts wallet={wallet} />
      </AtEnd>
    </>
  )
}

function Nodes({ nodes }: { nodes: readonly Node[] }) {
  return (
    <Section title={fill(words.nodes, { n: nodes.length })}>
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

const Below = ({ children }: { children: ReactNode }) => (
  <Boundary>
    <Suspense fallback={<Waiting />}>{children}</Suspense>
  </Boundary>
)

/** Nodes that are on the chain but not in the ledger. */
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
