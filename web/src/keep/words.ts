// The page's texts that change; fixed ones are in withdraw.html.
export const words = {
  connect: (wallet: string) => `Connect ${wallet}`,
  wallet: 'wallet',
  place: (contract: string, chain: string) => `${contract}, chain ${chain}`,
  all: 'All',
  allNodes: 'all nodes, all they hold',
  node: (id: string) => `node #${id}`,
  noAccount: 'The wallet names no account.',
  noContract: 'There is no contract at this address, on the chain that the wallet is on.',
  wrongTo: 'The address to pay to is none, or has a letter wrong.',
  confirmFirst: 'Confirm first that the address is the one you mean.',
  nothing: 'There is nothing to withdraw.',
  holdsNoMore: (ether: string) => `The node holds no more than ${ether} ETH.`,
  sent: (hash: string) => `Sent as ${hash}. Waiting for a block…`,
  asks: (ether: string, to: string) => `Your wallet asks whether to withdraw ${ether} ETH to ${to}.`,
  paid: (ether: string, to: string, block: bigint, hash: string) =>
    `Paid out: ${ether} ETH to ${to}, in block ${block}, by transaction ${hash}.`,
  unsure: (said: string) =>
    `${said} The wallet may have sent it all the same: look at its list of transactions before you withdraw again.`,
  enterContract: 'Enter the contract’s address first: the operator or your receipt names it.',
  enterChain: 'Enter the number of the chain first: 1 is Ethereum.',
  wrongAmount: 'The amount is a number such as 0.25.',
}
