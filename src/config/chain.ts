// Reads which chain and factory to follow, from which block on, and when a block counts as settled. A chain setting without RPC_URL is
// refused: it was meant for a real chain, and the embedded one must not take its place.
import { VALID_FOR_SEC_MAX } from '../domain/refunds.ts'
import type { Address } from '../domain/units.ts'
import type { ChainConfig } from './shape.ts'
import { type Source, shown } from './source.ts'
import { PORTS, parseAddress, readAddress, readHash, readHttpUrl, readHttpUrls, readWei, readWhole } from './values.ts'

/** The maximum number of providers; more only multiply the requests. */
const RPC_URLS_MAX = 8
const EMBEDDED_CHAIN_ID = 31_337
/** Bounds of the validity. A shorter one ends before a busy chain has room; a longer one may delay a refund by as much. */
const VALID_FOR = {
  min: 60,
  max: VALID_FOR_SEC_MAX,
  why: 'what was signed must find a block before, and ends after it',
}

export function readChain(source: Source, embedded: boolean): ChainConfig {
  const chainId = readWhole(source, 'CHAIN_ID', { min: 1, max: Number.MAX_SAFE_INTEGER, why: 'EIP-155' }, null)
  const factoryAddress = readAddress(source, 'FACTORY_ADDRESS')
  const startBlock = readWhole(source, 'START_BLOCK', { min: 0, max: 2 ** 40, why: "the factory's block" }, null)
  if (embedded) checkForeignChain(source, chainId)
  else if (source.isSet('RPC_URL') && source.environment !== 'production' && !source.isSet('FACTORY_ADDRESS')) {
    source.refuse(
      'FACTORY_ADDRESS',
      'is required with RPC_URL: "node-ledger deploy" puts a factory on the chain and prints it',
    )
  }
  return {
    rpcUrls: readHttpUrls(source, 'RPC_URL', RPC_URLS_MAX),
    publicRpcUrl: readPublicRpcUrl(source),
    chainId,
    factoryAddress,
    factoryCodeHash: readHash(source, 'FACTORY_CODE_HASH'),
    formerFactories: readFormerFactories(source),
    startBlock: startBlock ?? (embedded ? null : 0),
    finality: readFinality(source),
    validForSec: readWhole(source, 'VALID_FOR_SEC', VALID_FOR, 900),
    feeCapWei: readWei(source, 'FEE_CAP_WEI', null),
    tipMaxWei: readWei(source, 'TIP_MAX_WEI', null),
    embeddedPort: readWhole(source, 'CHAIN_PORT', PORTS, 8545),
  }
}

/** The embedded chain has a factory and an id of its own: settings of another one were meant for a real chain. */
function checkForeignChain(source: Source, chainId: number | null): void {
  const remedy = 'set RPC_URL to a node of that chain, or remove this setting to use the embedded one'
  for (const name of ['FACTORY_ADDRESS', 'START_BLOCK'] as const) {
    if (source.isSet(name)) source.refuse(name, `is set but RPC_URL is not: ${remedy}`)
  }
  if (chainId !== null && chainId !== EMBEDDED_CHAIN_ID) {
    source.refuse(
      'CHAIN_ID',
      `is ${chainId} but RPC_URL is not set, and the embedded chain's is ${EMBEDDED_CHAIN_ID}: ${remedy}`,
    )
  }
}

/** Null where it is not set; `none` is a word of its own, so that it cannot be forgotten. */
function readFormerFactories(source: Source): Address[] | null {
  const text = source.get('FORMER_FACTORIES')
  if (text === null) return null
  if (text.toLowerCase() === 'none') return []
  const found = text.split(',').map((word) => parseAddress(word.trim()))
  const factories = found.filter((factory) => factory !== null)
  if (factories.length < found.length)
    source.refuse('FORMER_FACTORIES', `is ${shown(text)}: set it to none, or to addresses with commas between them`)
  return factories
}

function readPublicRpcUrl(source: Source): string | null {
  const url = readHttpUrl(source, 'PUBLIC_RPC_URL')
  if (url === null) return null
  const { username, password } = new URL(url)
  if (username !== '' || password !== '') {
    source.refuse('PUBLIC_RPC_URL', 'contains a user or password, and is shown to everybody')
  }
  return url
}

function readFinality(source: Source): ChainConfig['finality'] {
  const text = source.get('FINALITY')?.toLowerCase()
  if (text === undefined || text === 'guarded') return 'guarded'
  if (text === 'finalized') return 'finalized'
  // A larger number is over a day and a half on the slowest of the usual chains: a mistake of units.
  if (/^[1-9][0-9]{0,3}$/.test(text)) return Number(text)
  source.refuse('FINALITY', `is ${shown(text)}: set it to guarded, finalized, or a number of blocks from 1 to 9999`)
  return 'guarded'
}
