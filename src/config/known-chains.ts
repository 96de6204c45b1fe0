// The names and the usual explorers of the chains that sales run on. A test compares each row with
// viem's list, which is too large for the service to load. For some chains we also know whether their blocks prove themselves.
import type { EvidenceMode } from '../domain/observed.ts'

/** A chain's name for people, and its explorer's address, without a slash at the end. */
export interface KnownChain {
  readonly name: string
  readonly explorerUrl: string | null
  /** What its blocks are worth; null if each ledger finds that out. */
  readonly mode: EvidenceMode | null
}

const ROWS: readonly (readonly [id: number, name: string, explorer: string | null])[] = [
  [1, 'Ethereum', 'https://etherscan.io'],
  [10, 'OP Mainnet', 'https://optimistic.etherscan.io'],
  [56, 'BNB Smart Chain', 'https://bscscan.com'],
  [97, 'BNB Smart Chain Testnet', 'https://testnet.bscscan.com'],
  [100, 'Gnosis', 'https://gnosisscan.io'],
  [130, 'Unichain', 'https://uniscan.xyz'],
  [137, 'Polygon', 'https://polygonscan.com'],
  [146, 'Sonic', 'https://sonicscan.org'],
  [324, 'ZKsync Era', 'https://explorer.zksync.io'],
  [480, 'World Chain', 'https://worldscan.org'],
  [1135, 'Lisk', 'https://blockscout.lisk.com'],
  [1301, 'Unichain Sepolia', 'https://sepolia.uniscan.xyz'],
  [1329, 'Sei Network', 'https://seiscan.io'],
  [1868, 'Soneium Mainnet', 'https://soneium.blockscout.com'],
  [2741, 'Abstract', 'https://abscan.org'],
  [4801, 'World Chain Sepolia', 'https://sepolia.worldscan.org'],
  [5000, 'Mantle', 'https://mantlescan.xyz'],
  [8453, 'Base', 'https://basescan.org'],
  [10_200, 'Gnosis Chiado', 'https://blockscout.chiadochain.net'],
  [17_000, 'Holesky', 'https://holesky.etherscan.io'],
  [31_337, 'Local chain', null],
  [33_139, 'ApeChain', 'https://apescan.io'],
  [34_443, 'Mode Mainnet', 'https://modescan.io'],
  [42_161, 'Arbitrum One', 'https://arbiscan.io'],
  [42_170, 'Arbitrum Nova', 'https://nova.arbiscan.io'],
  [42_220, 'Celo', 'https://celoscan.io'],
  [43_113, 'Avalanche Fuji', 'https://testnet.snowtrace.io'],
  [43_114, 'Avalanche', 'https://snowtrace.io'],
  [57_073, 'Ink', 'https://explorer.inkonchain.com'],
  [59_141, 'Linea Sepolia Testnet', 'https://sepolia.lineascan.build'],
  [59_144, 'Linea Mainnet', 'https://lineascan.build'],
  [80_002, 'Polygon Amoy', 'https://amoy.polygonscan.com'],
  [80_094, 'Berachain', 'https://berascan.com'],
  [81_457, 'Blast', 'https://blastscan.io'],
  [84_532, 'Base Sepolia', 'https://sepolia.basescan.org'],
  [421_614, 'Arbitrum Sepolia', 'https://sepolia.arbiscan.io'],
  [534_351, 'Scroll Sepolia', 'https://sepolia.scrollscan.com'],
  [534_352, 'Scroll', 'https://scrollscan.com'],
  [560_048, 'Hoodi', 'https://hoodi.etherscan.io'],
  [7_777_777, 'Zora', 'https://explorer.zora.energy'],
  [11_155_111, 'Sepolia', 'https://sepolia.etherscan.io'],
  [11_155_420, 'OP Sepolia', 'https://optimism-sepolia.blockscout.com'],
]

/**
 * `proven`: we have recomputed published blocks with their lists (test/chain/prove/blocks). `agreed`: headers of zkSync's stack hash something else,
 * Mantle's lists lack parts of its deposits, and Avalanche's receipts roots belong to other blocks (avalanchego#5761).
 */
const MODES: Readonly<Record<EvidenceMode, readonly number[]>> = {
  proven: [1, 137, 42_161, 11_155_111],
  agreed: [324, 2741, 5000, 43_113, 43_114],
}

const modeOf = (id: number): EvidenceMode | null =>
  MODES.proven.includes(id) ? 'proven' : MODES.agreed.includes(id) ? 'agreed' : null

/** The rows of the table, by chain id. */
export const KNOWN_CHAINS: ReadonlyMap<number, KnownChain> = new Map(
  ROWS.map(([id, name, explorerUrl]) => [id, { name, explorerUrl, mode: modeOf(id) }]),
)
