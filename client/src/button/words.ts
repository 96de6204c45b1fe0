// What the button says: checks in sentences with their numbers, a payment's states.
import { inEther } from '../purchase.ts'
import type { BuyerCheck, Payment } from '../types.ts'

const underWay = (count: number) => (count > 0 ? `, and ${count} under way` : '')

/** A check that does not pass. */
export function whyNot(check: BuyerCheck, label: string): string {
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

/** A payment on its way. */
export const STATES: Readonly<Record<Payment['status'] | 'waiting', string>> = {
  waiting: 'Sent. Waiting for a block…',
  seen: 'In a block. Being checked…',
  accepted: 'Accepted. Your node is minted with the next run…',
  minting: 'Your node is being minted…',
  minted: 'Your node is minted.',
  held: 'Held: the operator looks at this payment. Nothing is lost.',
  refunded: 'The operator has sent the ether back.',
  dismissed: 'The operator has closed this payment without a node.',
  orphaned: 'The chain took the block of this transfer back. It counts again once it is in another one.',
}
