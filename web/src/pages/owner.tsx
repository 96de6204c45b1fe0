// The owner's own page: sign in, what the nodes hold, withdraw, and rescue what the ledger has missed.
import type { Node, Wallet } from '@node-ledger/client'
import { signIn, withdraw, withdrawAll } from '@node-ledger/client/viem'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { isAddress, parseEther } from 'viem'
import { Link } from 'wouter'
import { count, ether } from '../format.ts'
import { ledger, queries } from '../ledger.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Address, Amount, Hash, Time } from '../ui/facts.tsx'
import { Figure, Page, Section } from '../ui/page.tsx'
import { Empty, Failed, Shown, Waiting } from '../ui/states.tsx'
import { WalletArea } from '../wallet/area.tsx'
import { Connect, WrongChain } from '../wallet/connect.tsx'
import { saidByWallet } from '../wallet/errors.ts'
import { type ConnectedWallet, useWallet } from '../wallet/use-wallet.ts'
import { NodesTable, nextCredit } from './address.tsx'

const ME = ['me'] as const
/** Behind a session nothing is cached: asked a little less often than public pages. */
const ME_EVERY_MS = 10_000

export function Owner() {
  return (
    <Page
      title="My nodes"
      lead="What your wallet owns, what it has earned, and what it may withdraw. The contract pays; this page only asks it."
    >
      <WalletArea>
        <SignedInOrNot />
      </WalletArea>
    </Page>
  )
}

function SignedInOrNot() {
  const me = useQuery({ queryKey: ME, queryFn: ({ signal }) => readMe(signal), refetchInterval: ME_EVERY_MS })
  return (
    <Shown reading={me} lines={6}>
      {(wallet) => (wallet === null ? <SignIn /> : <Mine me={wallet} />)}
    </Shown>
  )
}

/** The session itself is in a cookie that scripts cannot see; this only says that there may be one, and saves asking in vain. */
const SIGNED_IN = 'signedIn'

async function readMe(signal: AbortSignal): Promise<Wallet | null> {
  return localStorage.getItem(SIGNED_IN) === null ? null : ledger.getMe({ signal })
}

function SignIn() {
  const wallet = useWallet()
  const sign = useMutation({
    mutationFn: async (owner: ConnectedWallet) => signIn(ledger, await owner.open()),
    onSuccess: () => {
      localStorage.setItem(SIGNED_IN, 'yes')
      return queries.invalidateQueries({ queryKey: ME })
    },
  })
  return (
    <Section title="Sign in">
      <div className="stack narrow">
        <p>Your wallet signs a text to show that the address is yours. That costs nothing and permits nothing.</p>
        <Connect />
        {wallet && (
          <button
            type="button"
            className="button main wide"
            disabled={sign.isPending}
            onClick={() => sign.mutate(wallet)}
          >
            {sign.isPending ? 'Sign in the wallet…' : 'Sign in'}
          </button>
        )}
        {sign.error && (
          <Failed error={saidByWallet(sign.error)} retry={wallet ? () => sign.mutate(wallet) : undefined} />
        )}
        <p className="note">
          Only looking? Every wallet has a <Link href={wallet ? `/address/${wallet.address}` : '/'}>public page</Link>.
        </p>
      </div>
    </Section>
  )
}

function Mine({ me }: { me: Wallet }) {
  const wallet = useWallet()
  const signOut = useMutation({
    mutationFn: () => ledger.logout(),
    onSuccess: () => {
      localStorage.removeItem(SIGNED_IN)
      queries.setQueryData(ME, null)
    },
  })
  const next = nextCredit(me.nodes)
  return (
    <>
      <div className="bar">
        <span>
          Signed in as <Address of={me.address} />
        </span>
        <button type="button" className="button quiet" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </button>
      </div>
      {wallet && wallet.address !== me.address && (
        <p className="notice warn">
          The wallet that is connected ({wallet.address}) is not the one that is signed in. Withdrawing works with the
          owner’s wallet only.
        </p>
      )}
      <dl className="tiles">
        <Figure name="Balance" note="may be withdrawn now">
          <Amount wei={me.totals.balanceWei} />
        </Figure>
        <Figure name="Credited">
          <Amount wei={me.totals.creditedWei} />
        </Figure>
        <Figure name="Withdrawn">
          <Amount wei={me.totals.withdrawnWei} />
        </Figure>
        <Figure
          name="Nodes"
          note={
            next && (
              <>
                next credit <Time at={next} />
              </>
            )
          }
        >
          {me.totals.nodeCount.toLocaleString('en-US')}
        </Figure>
      </dl>
      <Unrecorded ids={me.unrecordedNodeIds} />
      <Section title="Withdraw">
        <Withdraw me={me} wallet={wallet} />
      </Section>
      <Section title={count(me.nodes.length, 'node')} aside={me.nodes.length > 0 && <Download me={me} />}>
        {me.nodes.length === 0 ? (
          <Empty title="No node yet.">
            <Link href="/buy">Buy one</Link>
          </Empty>
        ) : (
          <NodesTable nodes={me.nodes} />
        )}
      </Section>
    </>
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
  if (ids === null)
    return <p className="note">Whether the chain knows more nodes of yours could not be checked just now.</p>
  if (ids.length === 0) return null
  return (
    <div className="notice warn" role="alert">
      <p>
        The chain shows {count(ids.length, 'node')} of yours that the ledger has not recorded yet: {ids.join(', ')}.
        {record.error && ` ${saidByWallet(record.error).message}`}
      </p>
      <button type="button" className="button" disabled={record.isPending} onClick={() => record.mutate(ids)}>
        {record.isPending ? 'Recording…' : 'Record now'}
      </button>
    </div>
  )
}

function Withdraw({ me, wallet }: { me: Wallet; wallet: ConnectedWallet | null }) {
  const [open, setOpen] = useState(false)
  const funded = me.nodes.filter(({ balanceWei }) => balanceWei > 0n)
  // A dialog that is open stays: what it has paid out is still to be read when nothing is left.
  if (funded.length === 0 && !open) return <Empty title="There is nothing to withdraw at present." />
  if (!wallet) {
    return (
      <div className="stack narrow">
        <p>Connect the wallet that owns the nodes.</p>
        <Connect />
      </div>
    )
  }
  return (
    <div className="stack narrow">
      <WrongChain />
      <button
        type="button"
        className="button main"
        disabled={wallet.address !== me.address || funded.length === 0}
        onClick={() => setOpen(true)}
      >
        Withdraw…
      </button>
      <Dialog open={open} onClose={() => setOpen(false)} title="Withdraw">
        <WithdrawForm nodes={funded} wallet={wallet} close={() => setOpen(false)} />
      </Dialog>
    </div>
  )
}

const ALL = 'all'

function WithdrawForm({
  nodes,
  wallet,
  close,
}: {
  nodes: readonly Node[]
  wallet: ConnectedWallet
  close: () => void
}) {
  const [which, setWhich] = useState(nodes.length > 1 ? ALL : (nodes[0]?.nodeId ?? ALL))
  const [amount, setAmount] = useState('')
  const [to, setTo] = useState('')
  const node = nodes.find(({ nodeId }) => nodeId === which) ?? null
  const totalWei = nodes.reduce((sum, { balanceWei }) => sum + balanceWei, 0n)
  const wrongAmount = node ? amountError(amount, node.balanceWei) : null
  const wrongTo = to !== '' && !isAddress(to) ? 'This is no address, or its checksum is wrong.' : null
  const [sentHash, setSentHash] = useState<string | null>(null)
  const act = useMutation({
    mutationFn: async () => {
      const own = await wallet.open()
      const options = { onSent: setSentHash, ...(to !== '' && { to: to as `0x${string}` }) }
      if (!node)
        return withdrawAll(
          ledger,
          own,
          nodes.map(({ nodeId }) => nodeId),
          options,
        )
      return withdraw(ledger, own, node.nodeId, amount === '' ? node.balanceWei : parseEther(amount), options)
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ME }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!wrongAmount && !wrongTo) act.mutate()
  }
  if (act.data) {
    return (
      <div className="stack">
        <p className="notice good" role="status">
          Paid out in block {act.data.blockNumber.toLocaleString('en-US')}: <Hash of={act.data.txHash} />
        </p>
        <button type="button" className="button" onClick={close}>
          Done
        </button>
      </div>
    )
  }
  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>From</span>
        <select value={which} onChange={(event) => setWhich(event.target.value)}>
          {nodes.length > 1 && (
            <option value={ALL}>
              all {nodes.length} nodes, {ether(totalWei)} ETH
            </option>
          )}
          {nodes.map(({ nodeId, balanceWei }) => (
            <option key={nodeId} value={nodeId}>
              node {nodeId}, {ether(balanceWei)} ETH
            </option>
          ))}
        </select>
      </label>
      {node && (
        <label className="field">
          <span>Amount in ETH</span>
          <input
            inputMode="decimal"
            placeholder={`all of it: ${ether(node.balanceWei)}`}
            value={amount}
            aria-invalid={wrongAmount !== null}
            onChange={(event) => setAmount(event.target.value.trim())}
          />
          {wrongAmount && <span className="error">{wrongAmount}</span>}
        </label>
      )}
      <label className="field">
        <span>To</span>
        <input
          placeholder={`this wallet: ${wallet.address}`}
          value={to}
          spellCheck="false"
          aria-invalid={wrongTo !== null}
          onChange={(event) => setTo(event.target.value.trim())}
        />
        {wrongTo && <span className="error">{wrongTo}</span>}
      </label>
      <p className="note">
        The contract is asked first whether it would pay. Only then does your wallet ask you to sign. You pay the fee.
      </p>
      {act.error && <Failed error={saidByWallet(act.error)} />}
      {act.isPending && sentHash && (
        <p role="status">
          Sent, waiting for its block: <Hash of={sentHash} />
        </p>
      )}
      <button
        type="submit"
        className="button main"
        disabled={act.isPending || nodes.length === 0 || wrongAmount !== null || wrongTo !== null}
      >
        {act.isPending ? (sentHash ? 'Waiting for the block…' : 'Confirm in the wallet…') : 'Withdraw'}
      </button>
      {act.isPending && !sentHash && <Waiting lines={1} />}
    </form>
  )
}

/** Null: it may be sent. Empty means all of it. */
function amountError(text: string, balanceWei: bigint): string | null {
  if (text === '') return null
  if (!/^[0-9]{1,20}(\.[0-9]{0,18})?$/.test(text)) return 'Write an amount such as 0.05, with at most 18 decimals.'
  const wei = parseEther(text)
  if (wei === 0n) return 'There must be something to withdraw.'
  return wei > balanceWei ? `The node holds ${ether(balanceWei)} ETH.` : null
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
      save(['kind,nodeId,time,amountWei,reference', ...lines].join('\r\n'), `nodes-${me.address}.csv`)
    },
  })
  return (
    <button type="button" className="button quiet" disabled={make.isPending} onClick={() => make.mutate()}>
      {make.isError
        ? 'Could not be made. Try again'
        : `CSV of the newest ${LISTED_MAX} credits and withdrawals of each`}
    </button>
  )
}

function save(text: string, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
