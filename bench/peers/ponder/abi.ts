import { parseAbi } from 'viem'

/** The factory's events from which the ledger follows (contracts/src/INodeFactory.sol). */
export const factoryEvents = parseAbi([
  'event NodeMinted(uint256 indexed nodeId, address indexed owner, bytes32 indexed ref, uint256 cohort)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  'event CohortOpened(uint256 indexed cohort, uint256 tier, uint256 firstDue, uint256 interval)',
  'event Credited(uint256 indexed round, uint256 indexed cohort, uint256 due, uint256 turns, uint256 amountPerNode, uint256 nodeCount)',
  'event Withdrawn(uint256 indexed nodeId, address indexed owner, address to, uint256 amount, uint256 withdrawnTotal)',
])
