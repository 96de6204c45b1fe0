// Why a payment stopped, in plain words, and what happens next.
import type { Payment, Tier } from '@node-ledger/client'
import { useQuote, useTiers } from '../../ledger.ts'
import { distanceOf, nearestTier } from '../../nearest.ts'
import { useSite } from '../../site.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Address, Amount, ExactTime, Hash } from '../../ui/facts.tsx'
import { Facts } from '../../ui/page.tsx'
import { SignInLink } from '../../ui/sign-in.tsx'
import { fill, rich } from '../../words/message.ts'
import { words } from '../../words/payment.ts'

const t = words.stopped
const GWEI = 10n ** 9n
/** A held payment has arrived, and waits for the operator. */
const WAY = ['done', 'now', 'later']

/** The outcome of a payment that is held, refunded or dismissed. */
export function Stopped({ payment }: { payment: Payment }) {
  if (payment.status === 'refunded')
    return (
      <p className="notice good">
        {payment.refundTxHash ? rich(t.refundedBy, { hash: <Hash of={payment.refundTxHash} /> }) : t.refunded}
      </p>
    )
  if (payment.status === 'dismissed') return <Dismissed payment={payment} />
  const { reason } = payment
  return (
    <div className="held">
      <p>
        <strong>{reason ? words.reasons[reason] : t.looks}</strong>{' '}
        {rich(reason === 'oldWallet' ? t.wentElsewhere : t.nothingLost, { next: <Next payment={payment} /> })}
      </p>
      <ol className="way">
        {stepsOf(payment).map((step, index) => (
          <li key={step} className={WAY[index]} aria-current={index === 1 ? 'step' : undefined}>
            <span>{step}</span>
          </li>
        ))}
      </ol>
      <HeldFacts payment={payment} />
    </div>
  )
}

/** The operator's decision, and what the buyer needs to object to it. */
function Dismissed({ payment }: { payment: Payment }) {
  const { contact } = useSite()
  return (
    <div className="held">
      <p>
        {rich(t.closed, { strong: (text) => <strong>{text}</strong> })} {contact === null && t.giveAddress}
      </p>
      <HeldFacts payment={payment} />
    </div>
  )
}

/** What happened, what happens now, and how it may end. */
function stepsOf(payment: Payment): string[] {
  const [received, decides, either] = t.steps
  const { reason } = payment
  const isSentBack = reason !== null && NEXT[reason] === 'sendsBack'
  const now = reason === 'refunding' ? t.prepared : needsDecision(payment) ? decides : t.held
  return [received, now, isSentBack ? t.back : either]
}

/** What the buyer and the operator need to settle it: what came, what was expected, from whom and when. */
function HeldFacts({ payment: { valueWei, reason, from, paidAt, tierId } }: { payment: Payment }) {
  const tiers = useTiers().data ?? []
  const tier = reason === 'wrongAmount' ? nearestTier(valueWei, tiers) : tiers.find(({ id }) => id === tierId)
  return (
    <Facts
      of={{
        ...(tier && {
          [t.expected]: rich(t.expectedOf, { amount: <Amount wei={tier.priceWei} exact plain />, tier: tier.label }),
        }),
        [t.received]: <Amount wei={valueWei} exact />,
        ...(tier &&
          reason === 'wrongAmount' && {
            [t.difference]: (
              <strong>
                <Difference wei={valueWei} nearest={tier} />
              </strong>
            ),
          }),
        ...(from && { [t.paidBy]: <Address of={from} /> }),
        ...(paidAt && { [t.paidAt]: <ExactTime at={paidAt} /> }),
      }}
    />
  )
}

/** By how much an amount misses the nearest price. */
function Difference({ wei, nearest }: { wei: bigint; nearest: Tier }) {
  const difference = distanceOf(wei, nearest)
  return rich(nearest.priceWei > wei ? t.less : t.more, {
    // A difference of a few wei is shown in wei.
    amount: <Amount wei={difference} plain exact={difference >= GWEI} />,
  })
}

/** True if the operator chooses between a node and a refund. */
const needsDecision = ({ reason, waitsForPlace }: Payment) =>
  !(reason && reason in NEXT) && !((reason === 'soldOut' || reason === 'supplySpent') && waitsForPlace)

/** Copies the page's address, for a buyer who comes back. */
export function KeepPage({ txHash }: { txHash: string }) {
  const url = new URL(`/payment/${txHash}`, window.location.origin).href
  return (
    <CopyButton text={url} what={t.theLink} className="button">
      {t.copyLink}
    </CopyButton>
  )
}

/** What happens next to a held payment. */
function Next({ payment: { reason, waitsForPlace } }: { payment: Payment }) {
  if (reason === 'soldOut' || reason === 'supplySpent') return waitsForPlace ? t.waitsForPlace : t.noPlace
  if (reason === 'contractWallet') return <OfContract />
  // The reason shows it.
  if (reason === 'refunding') return null
  return t[(reason && NEXT[reason]) ?? 'decides']
}

/** What happens next, for reasons that do not leave the operator a choice between a node and a refund. */
const NEXT = {
  walletLimit: 'noDecision',
  mintedElsewhere: 'sendsBack',
  refunding: 'sendsBack',
  unattributed: 'findsOut',
  mintReverted: 'findsOut',
  recheck: 'findsOut',
} as Readonly<Partial<Record<NonNullable<Payment['reason']>, 'noDecision' | 'sendsBack' | 'findsOut'>>>

/** The link to the operator's contact. If it opens a mail, the mail names the payment. */
export const contactAbout = (contact: string, txHash: string): string =>
  contact.startsWith('mailto:')
    ? `${contact}${contact.includes('?') ? '&' : '?'}subject=${encodeURIComponent(fill(t.subject, { hash: txHash }))}`
    : contact

/** What happens next to a contract's payment. That depends on whose payments become nodes automatically. */
function OfContract() {
  const { data: quote } = useQuote(undefined)
  if (quote?.contractWallets !== 'proven') return t.ofContract
  return rich(t.ofProven, { signIn: (text) => <SignInLink>{text}</SignInLink> })
}
