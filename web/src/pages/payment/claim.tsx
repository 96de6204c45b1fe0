// "I have paid already": takes a transaction's hash and shows what happened to it.
import { type FormEvent, Suspense, useState } from 'react'
import { cleanPaste, HASH } from '../../format.ts'
import { later } from '../../ui/boundary.tsx'
import { Waiting } from '../../ui/states.tsx'
import { words } from '../../words/checkout.ts'
import type { StepsProps } from './steps.tsx'

const Steps = later(async () => (await import('./steps.tsx')).PaymentSteps)

/** A payment's steps. They load when they are first shown, because most visitors pay nothing. */
export const PaymentSteps = (props: StepsProps) => (
  <Suspense fallback={<Waiting lines={4} />}>
    <Steps {...props} />
  </Suspense>
)

export function Claim() {
  const [txHash, setTxHash] = useState<string | null>(null)
  const [wrong, setWrong] = useState(false)
  const look = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const hash = cleanPaste(String(new FormData(event.currentTarget).get('hash')))
    setWrong(!HASH.test(hash))
    if (HASH.test(hash)) setTxHash(hash.toLowerCase())
  }
  return (
    <details className="checked">
      <summary>{words.claim.title}</summary>
      <form className="inline" onSubmit={look} noValidate>
        <label className="field">
          <span>{words.claim.hash}</span>
          <input
            name="hash"
            placeholder="0x…"
            autoComplete="off"
            spellCheck="false"
            aria-invalid={wrong}
            aria-describedby="hash-wrong"
          />
        </label>
        <button type="submit" className="button">
          {words.claim.look}
        </button>
        <span id="hash-wrong" className="error" role="alert">
          {wrong && words.claim.wrong}
        </span>
      </form>
      {txHash && <PaymentSteps key={txHash} txHash={txHash} />}
    </details>
  )
}
