// What the button says, in English: checks in sentences with their numbers, a payment's states, what to press. Which language it speaks is language.ts's.
import { inEther } from '../purchase.ts'
import type { BuyerCheck, Payment } from '../types.ts'

const underWay = (count: number) => (count > 0 ? `, and ${count} under way` : '')

/** A check that does not pass. */
function whyNot(check: BuyerCheck, label: string): string {
  switch (check.check) {
    case 'onSale':
      return `${label} is not on sale at present.`
    case 'allowance':
      return `You have ${check.owned} of the ${check.limit} nodes of this tier that a wallet may have${underWay(check.underWay)}.`
    case 'cap':
      return `You have ${check.owned} of the ${check.limit} nodes in all that the contract allows a wallet${underWay(check.underWay)}.`
    case 'holding':
      return `This tier asks for a holding of ${check.symbol ?? 'its token'} that your wallet does not have.`
    case 'ether':
      return check.requiredWei === null || check.balanceWei === null
        ? 'Your ether does not cover price and gas.'
        : `You have ${inEther(check.balanceWei)} ETH; price and gas take ${inEther(check.requiredWei)} ETH.`
    case 'review':
      return 'The operator would look at this payment first: it would be held until they release the node or send the ether back.'
  }
}

export const english = {
  buyOne: 'Buy a node',
  buy: (label: string, price: string) => `Buy ${label} for ${price}`,
  pay: (price: string) => `Pay ${price}`,
  again: 'Try again',
  checkAgain: 'Check again',
  another: 'Buy another',
  noWallet: 'No wallet was found in this browser.',
  otherWays: 'Pay from a phone or by hand',
  onOwnPage: 'Pay on the ledger’s own page',
  payWith: 'Pay with:',
  checking: (wallet: string) => `Checking with ${wallet}…`,
  notOffered: 'This payment would be held, so it is not offered:',
  agree:
    'The operator would look at this payment first: it would be held until they release the node or send the ether back. Pay all the same.',
  partlyUnknown: 'Not all of it could be checked just now. What does not pass would be held, not lost.',
  confirm: (price: string) => `Confirm ${price} in the wallet…`,
  notHeard: (price: string) =>
    `This browser asked a wallet for ${price}, and did not hear what became of it. If you confirmed it, it shows here within a block or two. Do not pay again before you have looked into the wallet.`,
  nothingSent: 'Nothing was sent: buy now',
  paymentPage: 'This payment’s page',
  node: (id: string) => `Node #${id}`,
  walletFailed: (why: string) => `The wallet could not do it: ${why}`,
  whyNot,
  /** A fault of the wallet or the service, whose own words are English; null: they are shown. */
  fault: (_fault: { code: string } | { status: number | null }): string | null => null,
  /** A payment on its way. */
  states: {
    waiting: 'Sent. Waiting for a block…',
    seen: 'In a block. Being checked…',
    accepted: 'Accepted. Your node is minted with the next run…',
    minting: 'Your node is being minted…',
    minted: 'Your node is minted.',
    held: 'Held: the operator looks at this payment. Nothing is lost.',
    refunded: 'The operator has sent the ether back.',
    dismissed: 'The operator has closed this payment without a node.',
    orphaned: 'The chain took the block of this transfer back. It counts again once it is in another one.',
  } satisfies Readonly<Record<Payment['status'] | 'waiting', string>>,
}

/** What another language has to have. */
export type Words = { readonly [Name in keyof typeof english]: Widened<(typeof english)[Name]> }
type Widened<T> = T extends string ? string : T
