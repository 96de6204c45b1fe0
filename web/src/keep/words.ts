// The page's texts that change; withdraw.html has the fixed texts.

/** Names of chains, by their ids. */
const CHAINS: Readonly<Record<string, string>> = {
  1: 'Ethereum',
  10: 'OP Mainnet',
  137: 'Polygon',
  8453: 'Base',
  31337: 'a local chain',
  42161: 'Arbitrum One',
  11155111: 'Sepolia',
}

export const words = {
  connect: (wallet: string) => `Connect ${wallet}`,
  wallet: 'wallet',
  on: (chain: string) => `on ${CHAINS[chain] ?? `chain ${chain}`}`,
  all: 'All',
  allNodes: 'All nodes',
  node: (id: string) => `Node ${id}`,
  submitAll: 'Withdraw all',
  submit: (ether: string) => `Withdraw ${ether} ETH`,
  noAccount: 'The wallet shares no account.',
  noContract: 'There is no contract at this address on the wallet’s chain.',
  wrongTo: 'This is not an address, or its checksum is wrong.',
  confirmFirst: 'Confirm first that you have checked the address.',
  nothing: 'There is nothing to withdraw.',
  holdsNoMore: (ether: string) => `The node holds only ${ether} ETH.`,
  sent: (hash: string) => `Sent as ${hash}. Waiting for a block…`,
  asks: (ether: string, to: string) => `Your wallet asks whether to withdraw ${ether} ETH to ${to}.`,
  paid: (ether: string, to: string, block: bigint, hash: string) =>
    `Paid out: ${ether} ETH to ${to}, in block ${block}, by transaction ${hash}.`,
  unsure: (message: string) =>
    `${message} The wallet may have sent it anyway. Check its transactions before you withdraw again.`,
  enterContract: 'Enter the contract’s address first. Your receipt shows it, or ask the operator.',
  enterChain: 'Enter the chain id first. Ethereum is 1.',
  wrongAmount: 'Enter an amount such as 0.25.',
}
