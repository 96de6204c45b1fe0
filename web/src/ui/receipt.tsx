// A receipt: facts in rows, to print or save as a file.
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { ui } from '../words/ui.ts'
import { InExplorer } from './explorer.tsx'
import { Whole } from './facts.tsx'
import { Facts } from './page.tsx'
import { saveFile } from './save.ts'

/** A row of the receipt. Rows without a value are left out. */
export type ReceiptRow = readonly [name: string, value: string | null | undefined]

/** How many rows come first, larger than the others. */
const FIRST = 4

/** An address or a hash. */
const HEX = /^0x[0-9a-f]+$/i
const ADDRESS_CHARS = 42

interface ReceiptProps {
  rows: readonly ReceiptRow[]
  /** The file's name, without its extension. */
  name: string
  /** Distinguishes the receipt from others on the page. */
  title?: string
}

/** Shows the receipt, with the two ways to keep it: print and save. */
export function Receipt({ rows, name, title = ui.receipt.title }: ReceiptProps) {
  const [isOpen, setIsOpen] = useState(false)
  const print = () => {
    flushSync(() => setIsOpen(true))
    window.print()
  }
  const filledRows = rows.flatMap(([what, value]) => (value ? [[what, value] as const] : []))
  const text = [title, ...filledRows.map(([what, value]) => `${what}: ${value}`), ''].join('\r\n')
  return (
    <section className="receipt" aria-label={title}>
      <strong>{title}</strong>
      <Facts of={shown(filledRows.slice(0, FIRST))} />
      <details className="checked" open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>{ui.receipt.details}</summary>
        <Facts of={shown(filledRows.slice(FIRST))} />
      </details>
      <div className="buttons">
        <button type="button" className="button" onClick={print}>
          {ui.receipt.print}
        </button>
        <button type="button" className="button" onClick={() => saveFile(text, `${name}.txt`, 'text/plain')}>
          {ui.receipt.save}
        </button>
      </div>
    </section>
  )
}

const shown = (rows: readonly (readonly [name: string, value: string])[]) =>
  Object.fromEntries(rows.map(([what, value]) => [what, <Value key={what} of={value} />]))

const Value = ({ of }: { of: string }) =>
  HEX.test(of) ? (
    <InExplorer kind={of.length > ADDRESS_CHARS ? 'tx' : 'address'} id={of}>
      <Whole of={of} />
    </InExplorer>
  ) : (
    of
  )
