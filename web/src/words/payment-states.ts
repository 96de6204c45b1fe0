// A payment's states in a word or two, for the payment's own page and for the checkout, which does not load that page's texts.
export const PAYMENT_STATES = {
  seen: 'In a block',
  accepted: 'Accepted',
  minting: 'Being minted',
  minted: 'Minted',
  held: 'Held',
  refunded: 'Refunded',
  dismissed: 'Closed',
  orphaned: 'Dropped by the chain',
}
