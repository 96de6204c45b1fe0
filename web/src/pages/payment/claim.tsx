// "I have paid already": a transaction's hash leads to what became of it.
import { type FormEvent, useState } from 'react'
import { HASH } from '../../format.ts'
import { Section } from '../../ui/page.tsx'
import { PaymentSteps } from './steps.tsx'

export function Claim() {
  const [txHash, setTxHash] = useState<string | null>(null)
  const [wrong, setWrong] = useState(false)
  const look = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = String(new FormData(event.currentTarget).get('hash')).trim()
    setWrong(!HASH.test(given))
    if (HASH.test(given)) setTxHash(given.toLowerCase())
  }
  return (
    <Section title="Paid already?">
      <form className="inline" onSubmit={look} noValidate>
        <label className="field">
          <span>Hash of the transfer</span>
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
          Look for it
        </button>
        <span id="hash-wrong" className="error" role="alert">
          {wrong && 'A transaction hash is 0x and 64 hex digits.'}
        </span>
      </form>
      {txHash && <PaymentSteps key={txHash} txHash={txHash} />}
    </Section>
  )
}
