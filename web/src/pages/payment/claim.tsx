// "I have paid already": takes a transaction's hash and shows what happened to it.
import { Suspense, useState } from 'react'
import { later } from '../../ui/boundary.tsx'
import { Waiting } from '../../ui/states.tsx'
import { words } from '../../words/checkout.ts'
import { FindPayment } from './find.tsx'
import type { StepsProps } from './steps.tsx'

const Steps = later(async () => (await import('./steps.tsx')).PaymentSteps)

/** A payment's steps. They load when they are first shown, because most visitors pay nothing. */
export const PaymentSteps = (props: StepsProps) => (
  <Suspense fallback={<Waiting lines={4} />}>
    <Steps {...props} />
  </Suspense>
)

/** Unfolds to a field for the hash. `isNext`: it is the next step of the page. */
export function Claim({ isNext = false }: { isNext?: boolean }) {
  const [txHash, setTxHash] = useState<string | null>(null)
  return (
    <details className="checked">
      <summary className={isNext ? 'button wide' : undefined}>{isNext ? words.claim.sent : words.claim.title}</summary>
      <FindPayment find={setTxHash} />
      {txHash && <PaymentSteps key={txHash} txHash={txHash} />}
    </details>
  )
}
