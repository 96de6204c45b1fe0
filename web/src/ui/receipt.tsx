// A receipt: facts in rows, to print or save as a file.
import { ui } from '../words/ui.ts'
import { Facts } from './page.tsx'
import { saveFile } from './save.ts'

/** A row of the receipt. Rows without a value are left out. */
export type ReceiptRow = readonly [name: string, value: string | null | undefined]

/** An address or a hash. */
const HEX = /^0x[0-9a-f]+$/i

interface ReceiptProps {
  rows: readonly ReceiptRow[]
  /** The file's name, without its extension. */
  name: string
  /** Distinguishes the receipt from others on the page. */
  title?: string
}

/** Shows the receipt, with the two ways to keep it: print and save. */
export function Receipt({ rows, name, title = ui.receipt.title }: ReceiptProps) {
  const filledRows = rows.flatMap(([what, value]) => (value ? [[what, value] as const] : []))
  const text = [title, ...filledRows.map(([what, value]) => `${what}: ${value}`), ''].join('\r\n')
  return (
    <section className="receipt" aria-label={title}>
      <header>
        <strong>{title}</strong>
        <div className="buttons">
          <button type="button" className="button" onClick={() => window.print()}>
            {ui.receipt.print}
          </button>
          <button type="button" className="button" onClick={() => saveFile(text, `${name}.txt`, 'text/plain')}>
            {ui.receipt.save}
          </button>
        </div>
      </header>
      <Facts of={Object.fromEntries(filledRows.map(([what, value]) => [what, <Value key={what} of={value} />]))} />
    </section>
  )
}

/** A value. A hash is set in a smaller font, so that it fits in a line. */
function Value({ of }: { of: string }) {
  return HEX.test(of) ? <span className="hex">{of}</span> : of
}
