// What a first buyer asks. On its own, because only the page with all tiers shows it.
export const words = {
  questions: 'Questions',
  asked: [
    [
      'What do I get?',
      'An NFT in the wallet that paid. Each round credits it with ETH, which the contract keeps for its owner.',
    ],
    [
      'When am I paid, and how much?',
      'Each round. The chain’s randomness draws the amount within a range that the operator sets, so it may change. Nothing is promised. You withdraw when you like.',
    ],
    [
      'What if I send a wrong amount, or pay from an exchange?',
      'We hold a wrong amount until the operator sends it back or gives you a node. If you pay from an exchange, the node goes to the exchange, and we cannot move it.',
    ],
    ['Can I sell my node?', 'Yes, like any NFT. Its balance goes with it, so withdraw before you sell.'],
    [
      'Who can change the terms?',
      'The operator can change prices and the range, and stop the rounds. What your node was credited stays yours.',
    ],
    [
      'What happens if this site is gone?',
      'Your ETH stays in the contract, which pays you without us. Save the page withdraw.html from “My nodes”.',
    ],
  ],
} as const
