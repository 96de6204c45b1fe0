// How many nodes a buyer takes together, up to what the rules allow.
import { type CanBuy, mostOf, type Tier } from '@node-ledger/client'
import { words } from '../../words/checkout.ts'
import { fill } from '../../words/message.ts'

const t = words.quantity

export interface Bound {
  most: number
  /** What sets this limit, in words; null if nothing does. */
  why: string | null
}

/**
 * The largest quantity: by the wallet's checks if there is a wallet, else by the tier alone. It is at least one, because other parts of the page say
 * why a wallet can buy none.
 */
export function boundOf(checks: CanBuy | undefined, tier: Tier, mostPerWallet: number): Bound {
  if (checks) {
    const { most, by } = mostOf(checks)
    return { most: Math.max(1, most), why: by && t.by[by] }
  }
  const remaining = tier.remaining ?? mostPerWallet
  const isFew = remaining < mostPerWallet
  return { most: Math.max(1, isFew ? remaining : mostPerWallet), why: t.by[isFew ? 'supply' : 'allowance'] }
}

interface QuantityProps {
  quantity: number
  bound: Bound
  choose: (quantity: number) => void
}

/** Two buttons around the number. Renders nothing if there is no choice. */
export function Quantity({ quantity, bound: { most, why }, choose }: QuantityProps) {
  if (most < 2) return null
  return (
    <div className="quantity">
      <span id="how-many">{t.howMany}</span>
      <fieldset aria-labelledby="how-many">
        <button
          type="button"
          className="button"
          aria-label={t.fewer}
          disabled={quantity <= 1}
          onClick={() => choose(quantity - 1)}
        >
          −
        </button>
        <output aria-live="polite">{quantity}</output>
        <button
          type="button"
          className="button"
          aria-label={t.more}
          disabled={quantity >= most}
          onClick={() => choose(quantity + 1)}
        >
          +
        </button>
      </fieldset>
      {quantity === most && why && <span className="note">{fill(t.most, { n: most, why })}</span>}
    </div>
  )
}
