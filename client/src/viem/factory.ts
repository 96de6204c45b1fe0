// The parts of the NodeFactory that this package reads and calls, and the contract's errors in words.
import { parseAbi } from 'viem'

/** The part of the contract's interface that owners and verifiers need. */
export const factoryAbi = parseAbi([
  'function nodesOf(address wallet) view returns (uint256[] ids)',
  'function nodeInfo(uint256 id) view returns (address nodeOwner, uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId)',
  'function cohort(uint256 id) view returns (uint256 perNode, uint256 size, uint256 nextDue, uint256 interval, uint256 tier)',
  'function maxPerWallet() view returns (uint256)',
  'function minter() view returns (address)',
  'function distributor() view returns (address)',
  'function outstanding() view returns (uint256)',
  'function isSolvent() view returns (bool)',
  'function withdraw(uint256 id, address to, uint256 amount)',
  'function withdrawAll(uint256[] ids, address to)',
  'function declineGifts(bool declined)',
  'function declinesGifts(address wallet) view returns (bool)',
  'event Credited(uint256 indexed round, uint256 indexed cohort, uint256 due, uint256 turns, uint256 amountPerNode, uint256 nodeCount)',
  'event Withdrawn(uint256 indexed nodeId, address indexed owner, address to, uint256 amount, uint256 withdrawnTotal)',
  'event IntervalSet(uint256 indexed cohort, uint256 interval, uint256 former)',
  'event SurplusSpent(uint256 indexed round, uint256 amount, uint256 allowance)',
  'error BalanceExceeded()',
  'error ImpossibleRecipient()',
  'error NotNodeOwner()',
  'error SendFailed()',
  'error TokenDoesNotExist()',
  'error ZeroAmount()',
])

const IN_WORDS: Readonly<Record<string, string>> = {
  BalanceExceeded: 'The node does not hold that much.',
  ImpossibleRecipient: 'Withdrawals cannot go to the zero address or to the contract itself.',
  NotNodeOwner: 'The wallet does not own this node.',
  SendFailed: 'The recipient rejected the ether.',
  TokenDoesNotExist: 'There is no such node.',
  ZeroAmount: 'There is nothing to withdraw.',
}

/** A contract error's name in words; null if no call of this package can cause it. */
export const inWords = (errorName: string): string | null => IN_WORDS[errorName] ?? null
