// Takes a transaction's hash.
import { type FormEvent, useState } from 'react'
import { cleanPaste, HASH } from '../../format.ts'
import { words } from '../../words/checkout.ts'

const t = words.claim

interface FindPaymentProps {
  /** The hash to begin with. */
  of?: string
  find: (txHash: string) => void
}

export function FindPayment({ of, find }: FindPaymentProps) {
  const [wrong, setWrong] = useState(false)
  const look = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const hash = cleanPaste(String(new FormData(event.currentTarget).get('hash')))
    setWrong(!HASH.test(hash))
    if (HASH.test(hash)) find(hash.toLowerCase())
  }
  return (
    <form className="inline" onSubmit={look} noValidate>
      <label className="field">
        <span>{t.hash}</span>
        <input
          name="hash"
          defaultValue={of}
          placeholder="0x…"
          autoComplete="off"
          spellCheck="false"
          aria-invalid={wrong}
          aria-describedby="hash-wrong"
        />
      </label>
      <button type="submit" className="button">
        {t.look}
      </button>
      <span id="hash-wrong" className="error" role="alert">
        {wrong && t.wrong}
      </span>
    </form>
  )
}
