// Withdrawing: from which node, how much and where to. The wallet sends the transaction, or the owner makes the call by
// hand.
import type { Node } from '@node-ledger/client'
import { WalletError, type WithdrawalRequest, withdraw, withdrawAll, withdrawalCall } from '@node-ledger/client/viem'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { isAddress, parseEther } from 'viem'
import { checksummed, cleanPaste, ether, figure, plainEther, shortEther } from '../../format.ts'
import { directory, queries } from '../../ledger.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Amount, Hash, Turn } from '../../ui/facts.tsx'
import { Facts, Summary } from '../../ui/page.tsx'
import { Shown, Waiting } from '../../ui/states.tsx'
import { Connect, WrongChain } from '../../wallet/connect.tsx'
import { CallByHand, Proposed } from '../../wallet/contract.tsx'
import type { ConnectedWallet } from '../../wallet/use-wallet.ts'
import { words as ledgerWords } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'
import { words } from '../../words/owner.ts'
import { nextCredit, sumOf } from '../ledger/nodes.tsx'
import { NotSent } from './not-sent.tsx'
import { PaidOut } from './paid-out.tsx'

const t = words.form
const { wallet: ofWallet, figures } = ledgerWords

/** A node and the balance to withdraw. */
interface Funded {
  nodeId: string
  balanceWei: bigint
}

interface WithdrawSectionProps {
  /** The nodes' owner, who alone can withdraw. */
  owner: string
  /** The nodes, as in the service's last answer. */
  nodes: readonly Node[]
  isStale: boolean
  wallet: ConnectedWallet | null
  /** Shown above the form. */
  notice?: ReactNode
}

/** What can be withdrawn, and the button for it. That also works if the service does not answer at the moment. */
export function WithdrawSection({ owner, nodes, wallet, notice, isStale }: WithdrawSectionProps) {
  const [open, setOpen] = useState(false)
  const fundedNodes = nodes.filter(({ balanceWei }) => balanceWei > 0n)
  const next = nextCredit(nodes)
  return (
    <>
      <Summary
        name={words.withdrawable}
        note={fundedNodes.length === 0 ? t.nothing : wallet ? <WrongChain /> : <ToConnect />}
        act={
          wallet &&
          fundedNodes.length > 0 && (
            <button
              type="button"
              className="button main wide"
              disabled={wallet.address !== owner}
              onClick={() => setOpen(true)}
            >
              {t.open}
            </button>
          )
        }
        of={{
          [ofWallet.nodes]: figure(nodes.length),
          [figures.credited]: <Amount wei={sumOf(nodes, 'creditedWei')} />,
          [figures.withdrawn]: <Amount wei={sumOf(nodes, 'withdrawnWei')} />,
          [ofWallet.nextCredit]: next ? <Turn at={next} /> : ledgerWords.node.notScheduled,
        }}
      >
        <Amount wei={sumOf(nodes, 'balanceWei')} />
      </Summary>
      {isStale && (
        <p className="notice" role="status">
          {words.stale}
        </p>
      )}
      {wallet && (
        // An open dialog stays, so that the owner can still read the result when nothing is left.
        <Dialog open={open} onClose={() => setOpen(false)} title={words.withdraw}>
          {notice}
          <WithdrawForm nodes={fundedNodes} wallet={wallet} close={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  )
}

const ToConnect = () => (
  <div className="stack narrow">
    <p>{words.connectOwner}</p>
    <Connect />
  </div>
)

const ALL = 'all'

/** The texts entered in the form. */
interface FormTexts {
  which: string
  /** Empty: all of the node's balance. */
  amount: string
  /** Null: the wallet itself. */
  to: string | null
  /** A receiver that is not the wallet, once the owner has confirmed that they checked it. */
  checkedTo: string | null
}

/** The withdrawal that results from the form. */
interface Withdrawal {
  node: Funded | null
  request: WithdrawalRequest
  amountWei: bigint
  /** True if nothing is left in the nodes. */
  isAll: boolean
  to: `0x${string}`
  wrongAmount: string | null
  wrongTo: string | null
  /** True if the ether goes to an address other than the wallet's. */
  isForeign: boolean
}

function withdrawalFrom(
  { which, amount, to }: FormTexts,
  nodes: readonly Funded[],
  wallet: ConnectedWallet,
): Withdrawal {
  const node = nodes.find(({ nodeId }) => nodeId === which) ?? null
  const wrongAmount = node && amountError(amount, node.balanceWei)
  const wrongTo = to !== null && !isAddress(to) ? t.wrongTo : null
  const allWei = node?.balanceWei ?? nodes.reduce((sum, { balanceWei }) => sum + balanceWei, 0n)
  const amountWei = node === null || amount === '' || wrongAmount ? allWei : parseEther(amount)
  const nodeIds = node ? [node.nodeId] : nodes.map(({ nodeId }) => nodeId)
  const receiver = to === null || wrongTo ? wallet.address : (to as `0x${string}`)
  return {
    ...{ node, request: { nodeIds, amountWei: node && amountWei }, amountWei, isAll: amountWei === allWei },
    ...{ to: receiver, wrongAmount, wrongTo, isForeign: receiver.toLowerCase() !== wallet.address },
  }
}

interface FormProps {
  nodes: readonly Funded[]
  wallet: ConnectedWallet
  close: () => void
}

function WithdrawForm({ nodes, wallet, close }: FormProps) {
  const [texts, setTexts] = useState<FormTexts>({
    which: nodes.length > 1 ? ALL : (nodes[0]?.nodeId ?? ALL),
    amount: '',
    to: null,
    checkedTo: null,
  })
  const withdrawal = withdrawalFrom(texts, nodes, wallet)
  const [sentHash, setSentHash] = useState<string | null>(null)
  const [isProposed, setProposed] = useState(false)
  /** True if the wallet has prompted, but we do not know whether it sent. */
  const [isUnsure, setIsUnsure] = useState(false)
  const act = useMutation({
    mutationFn: async ({ request: { nodeIds, amountWei }, to }: Withdrawal) => {
      const own = await wallet.open()
      const options = { to, onAsk: () => setIsUnsure(true), onSent: setSentHash, onProposed: () => setProposed(true) }
      const [first = ''] = nodeIds
      return amountWei === null
        ? withdrawAll(directory, own, nodeIds, options)
        : withdraw(directory, own, first, amountWei, options)
    },
    onError: (error) => error instanceof WalletError && setIsUnsure(false),
    // Not awaited, because the service may not answer.
    onSettled: () => void queries.invalidateQueries(),
  })
  const { amountWei, isAll, wrongAmount } = withdrawal
  const isReviewed = !withdrawal.isForeign || texts.checkedTo === withdrawal.to
  const isRight = wrongAmount === null && withdrawal.wrongTo === null && isReviewed
  const maySubmit = !act.isPending && nodes.length > 0 && isRight && !isUnsure
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (maySubmit) act.mutate(withdrawal)
  }
  if (act.data) return <PaidOut withdrawal={act.data} close={close} />
  return (
    <form className="stack" onSubmit={submit}>
      <Fields {...{ texts, setTexts, withdrawal, nodes, wallet }} />
      {!wrongAmount && <Facts of={{ [t.pays]: <Amount wei={amountWei} exact /> }} className="total" />}
      <p className="note">{t.asked}</p>
      {act.error && <NotSent error={act.error} />}
      {isUnsure && !act.isPending && <Unsure onConfirm={() => setIsUnsure(false)} />}
      {act.isPending && sentHash && <p role="status">{rich(t.sent, { hash: <Hash of={sentHash} /> })}</p>}
      {act.isPending && isProposed && !sentHash && <Proposed />}
      <button type="submit" className="button main" disabled={!maySubmit}>
        {act.isPending
          ? sentHash
            ? t.waiting
            : t.confirm
          : isAll
            ? t.submitAll
            : fill(t.submit, { amount: ether(amountWei) })}
      </button>
      {act.isPending && !sentHash && !isProposed && <Waiting lines={1} />}
      {maySubmit && <ByHand withdrawal={withdrawal} />}
    </form>
  )
}

interface FieldsProps {
  texts: FormTexts
  setTexts: (texts: FormTexts) => void
  withdrawal: Withdrawal
  nodes: readonly Funded[]
  wallet: ConnectedWallet
}

function Fields({ texts, setTexts, withdrawal, nodes, wallet }: FieldsProps) {
  const { node, to, wrongAmount, wrongTo, isForeign } = withdrawal
  return (
    <>
      <label className="field">
        <span>{t.from}</span>
        <select value={texts.which} onChange={(event) => setTexts({ ...texts, which: event.target.value })}>
          {nodes.length > 1 && <option value={ALL}>{fill(t.all, { n: nodes.length })}</option>}
          {nodes.map(({ nodeId, balanceWei }) => (
            <option key={nodeId} value={nodeId}>
              {fill(t.node, { id: nodeId, amount: shortEther(balanceWei) })}
            </option>
          ))}
        </select>
      </label>
      {node && <HowMuch {...{ texts, setTexts, wrongAmount }} node={node} />}
      <label className="field">
        <span>{wrongTo ? t.to : isForeign ? t.toAnother : t.toThis}</span>
        <textarea
          className="whole"
          rows={2}
          value={texts.to ?? checksummed(wallet.address)}
          autoComplete="off"
          spellCheck="false"
          aria-invalid={wrongTo !== null}
          onChange={(event) => setTexts({ ...texts, to: cleanPaste(event.target.value) })}
        />
        {wrongTo && <span className="error">{wrongTo}</span>}
      </label>
      {isForeign && (
        <label className="notice warn agree">
          <input
            type="checkbox"
            checked={texts.checkedTo === to}
            onChange={({ target }) => setTexts({ ...texts, checkedTo: target.checked ? to : null })}
          />
          <span>{t.foreign}</span>
        </label>
      )}
    </>
  )
}

interface HowMuchProps extends Pick<FieldsProps, 'texts' | 'setTexts'> {
  node: Funded
  wrongAmount: string | null
}

function HowMuch({ texts, setTexts, wrongAmount, node }: HowMuchProps) {
  return (
    <div className="inline">
      <label className="field">
        <span>{t.amount}</span>
        <input
          inputMode="decimal"
          placeholder={t.allOfIt}
          value={texts.amount}
          aria-invalid={wrongAmount !== null}
          onChange={(event) => setTexts({ ...texts, amount: event.target.value.trim() })}
        />
      </label>
      <button
        type="button"
        className="button"
        onClick={() => setTexts({ ...texts, amount: plainEther(node.balanceWei) })}
      >
        {t.max}
      </button>
      {wrongAmount && <span className="error">{wrongAmount}</span>}
    </div>
  )
}

function Unsure({ onConfirm }: { onConfirm: () => void }) {
  return (
    <label className="notice warn agree">
      <input type="checkbox" checked={false} onChange={onConfirm} />
      <span>{t.unsure}</span>
    </label>
  )
}

/** What is wrong with an amount; null if it may be sent. An empty text means the whole balance. */
function amountError(text: string, balanceWei: bigint): string | null {
  if (text === '') return null
  if (!/^[0-9]{1,20}(\.[0-9]{0,18})?$/.test(text)) return t.wrongAmount
  const wei = parseEther(text)
  if (wei === 0n) return t.zero
  return wei > balanceWei ? fill(t.tooMuch, { amount: ether(balanceWei) }) : null
}

/** The call that the wallet would make, built when the owner asks to see it. */
function ByHand({ withdrawal: { request, to } }: { withdrawal: Withdrawal }) {
  const [open, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t.byHand}</summary>
      {open && <ItsCall request={request} to={to} />}
    </details>
  )
}

function ItsCall({ request, to }: Pick<Withdrawal, 'request' | 'to'>) {
  const reading = useQuery({
    queryKey: ['withdrawal', request.nodeIds.join(), String(request.amountWei), to],
    queryFn: () => withdrawalCall(directory, request, to),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return <Shown reading={reading}>{(call) => <CallByHand call={call} />}</Shown>
}
