// The buy button, by its tag: loading this module is enough.
import { BuyButton } from './element.ts'

export { BuyButton }

const TAG = 'node-ledger-buy'

declare global {
  interface HTMLElementTagNameMap {
    [TAG]: BuyButton
  }
}

if (!customElements.get(TAG)) customElements.define(TAG, BuyButton)
