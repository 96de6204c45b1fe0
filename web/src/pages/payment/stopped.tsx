// Why a payment stopped on its way, in plain words, and what happens next.
import type { Payment, Tier } from '@node-ledger/client'
import { useQuote, useTiers } from '../../ledger.ts'
import { Amount, Hash } from '../../ui/facts.tsx'
import { SignInLink } from '../../ui/sign-in.tsx'

/** Every reason in plain words, and what happens next. */
const HELD: Record<NonNullable<Payment['reason']>, string> = {
  wrongAmount: 'The amount is no tier’s exact price.',
  saleClosed: 'The tier was not on sale when the transfer was made.',
  tierAllowance: 'The wallet already holds, or has under way, as many nodes of this tier as one wallet may.',
  holding:
    'The wallet did not hold the tokens this tier asks for at the block of the transfer, or that could not be read.',
  walletLimit:
    'The wallet holds as many nodes as the contract allows. Once one is moved away, this node is minted by itself.',
  review: 'A person looks at this payment first.',
  unattributed: 'The ether came by a call inside another transaction, so that its sender is not certain.',
  contractWallet: 'A contract sent the ether: a Safe, a smart account, or another.',
  mintReverted: 'The contract refused the mint.',
  oldWallet:
    'It went to a wallet that is no longer the one for payments. The operator decides about it, or sends the ether back.',
  mintedElsewhere: 'Another wallet was given the node of this payment. The operator sends the ether back.',
  recheck:
    'The ledger was restored from a backup; the operator makes sure that this payment has not been dealt with before.',
  refunding: 'The operator is about to send the ether back.',
}

/** What became of a payment that is held, sent back or closed. */
export function Stopped({ payment }: { payment: Payment }) {
  if (payment.status === 'refunded')
    return (
      <p className="notice good">
        The operator has sent the ether back
        {payment.refundTxHash && (
          <>
            , by transaction <Hash of={payment.refundTxHash} />
          </>
        )}
        .
      </p>
    )
  if (payment.status === 'dismissed')
    return <p className="notice warn">The operator has closed this payment without a node.</p>
  return (
    <div className="notice warn held">
      <p>
        <strong>Held.</strong> {payment.reason ? HELD[payment.reason] : 'The operator looks at it.'}{' '}
        {payment.reason === 'wrongAmount' && <Difference wei={payment.valueWei} />}
      </p>
      <p>
        Nothing is lost: <Amount wei={payment.valueWei} /> lies in the payments wallet. <Next reason={payment.reason} />{' '}
        Keep the hash; this page shows what becomes of it.
      </p>
    </div>
  )
}

/** By how much an amount misses the nearest price. */
function Difference({ wei }: { wei: bigint }) {
  const { data } = useTiers()
  const away = ({ priceWei }: Tier) => (priceWei > wei ? priceWei - wei : wei - priceWei)
  const nearest = data?.toSorted((a, b) => (away(a) < away(b) ? -1 : 1))[0]
  if (!nearest) return null
  return (
    <>
      It is <Amount wei={away(nearest)} plain exact /> {nearest.priceWei > wei ? 'less' : 'more'} than {nearest.label}{' '}
      costs.
    </>
  )
}

/** What happens next to a held payment. */
function Next({ reason }: { reason: Payment['reason'] }) {
  if (reason === 'contractWallet') return <OfContract />
  if (reason === 'walletLimit')
    return 'No one has to decide anything; ask the operator if you want the ether back instead.'
  return 'The operator decides whether it becomes a node or is sent back.'
}

/** What happens next to what a contract paid: that depends on whose payments become nodes by themselves. */
function OfContract() {
  const { data: quote } = useQuote(undefined)
  if (quote?.contractWallets !== 'proven')
    return 'The operator makes sure that somebody can use what this contract owns, and then releases the node or sends the ether back.'
  return (
    <>
      <SignInLink>Sign in</SignInLink> with that wallet, and your node comes by itself. Else the operator makes sure
      that the wallet is yours, and releases the node or sends the ether back.
    </>
  )
}
