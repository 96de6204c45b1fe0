// Finds payments by the wallet that paid, by a transaction, or by a row number.
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { HASH } from '../../format.ts'

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const NUMBER = /^[1-9]\d{0,15}$/

interface SearchProps {
  /** The wallet whose payments to show; empty means any. */
  from: string
  choose: (from: string) => void
}

export function Search({ from, choose }: SearchProps) {
  const [, go] = useLocation()
  const [wrong, setWrong] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget).get('find')).trim()
    if (HASH.test(text) || NUMBER.test(text)) return go(`/console/payments/${text}`)
    setWrong(text !== '' && !ADDRESS.test(text))
    if (text === '' || ADDRESS.test(text)) choose(text)
  }
  return (
    <form className="inline find-payment" onSubmit={submit} key={from}>
      <input
        name="find"
        aria-label="Find by wallet, transaction or number"
        defaultValue={from}
        placeholder="Wallet, transaction or number"
        autoComplete="off"
        spellCheck="false"
      />
      <button type="submit" className="button">
        Find
      </button>
      {wrong && (
        <p className="error" role="alert">
          Enter an address, the hash of a transaction, or a number.
        </p>
      )}
    </form>
  )
}
