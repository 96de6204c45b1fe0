// The settings that choose which chain and factory to follow, from which block, and when a block counts as settled.
import { parseAddress } from '../chain/digest.ts'
import type { Address } from '../domain/units.ts'
import { type Parse, type SettingGroup, shown } from './setting.ts'
import { account, hash, httpUrl, httpUrls, onOff, wei, whole } from './values.ts'

/** The most providers; more of them would only multiply the requests. */
const RPC_URLS_MAX = 8
/** An empty list must be written as `none`, so that operators cannot leave the setting out by mistake. */
const formerFactories: Parse<readonly Address[]> = (input, ask) => {
  if (input.toLowerCase() === 'none') return []
  const entries = input.split(',').map((word) => parseAddress(word.trim()))
  const factories = entries.filter((factory) => factory !== null)
  if (factories.length === entries.length) return factories
  return ask.refuse(`is ${shown(input)}: set it to none, or to addresses separated by commas`)
}

const publicRpcUrl: Parse<string> = (input, ask) => {
  const url = httpUrl(input, ask)
  const { username, password } = new URL(url ?? 'http://localhost')
  if (username === '' && password === '') return url
  return ask.refuse('contains a user or password, but everyone can see it')
}

/** `guarded`, `finalized`, or a number of confirmations. */
const finality: Parse<'guarded' | 'finalized' | number> = (input, ask) => {
  const word = input.toLowerCase()
  if (word === 'guarded' || word === 'finalized') return word
  // A larger number is probably in the wrong unit: 9,999 blocks take over a day and a half on the slowest of the usual chains.
  if (/^[1-9][0-9]{0,3}$/.test(word)) return Number(word)
  return ask.refuse(`is ${shown(word)}: set it to guarded, finalized, or a number of blocks from 1 to 9999`)
}

export const CHAIN = {
  title: 'The chain',
  settings: {
    RPC_URL: {
      parse: httpUrls(RPC_URLS_MAX),
      secret: 'url',
      part: 'chain',
      otherwise: 'the embedded chain; required in production',
      example: 'https://rpc.example.org/v1/key',
      required: "set it to your chain provider's https://… (several separated by commas)",
      text: 'JSON-RPC providers over http(s), separated by commas, the preferred one first.',
    },
    TRUST_PROVIDER: {
      parse: onOff,
      default: 'false',
      text: 'Trusts the only provider of `RPC_URL` about facts that the chain cannot prove. On every chain this is who sent a payment through a contract: without this setting the service holds these payments. On chains whose blocks cannot be recomputed it is also every payment and seed, and production requires this setting.',
    },
    PUBLIC_RPC_URL: {
      parse: publicRpcUrl,
      example: 'https://public-rpc.example.org',
      text: 'A JSON-RPC for the public, listed in `/.well-known/node-ledger.json`.',
    },
    CHAIN_ID: {
      parse: whole({ min: 1, max: Number.MAX_SAFE_INTEGER, why: 'EIP-155' }),
      part: 'chain',
      otherwise: "the chain's own; required in production",
      required: 'set it to the id of the chain; "node-ledger deploy" prints it',
      text: 'The chain id. `node-ledger deploy` prints it and the next two.',
    },
    FACTORY_ADDRESS: {
      parse: account,
      part: 'chain',
      otherwise: 'the embedded one; required with `RPC_URL`',
      required: 'set it to the factory\'s address; "node-ledger deploy" deploys one and prints it',
      text: "The factory's address.",
    },
    START_BLOCK: {
      parse: whole({ min: 0, max: 2 ** 40, why: "the factory's block" }),
      part: 'chain',
      otherwise: '0; required in production',
      required: 'set it to the block of the factory\'s deployment; "node-ledger deploy" prints it',
      text: 'The block of the factory’s deployment. The service follows the chain from there.',
    },
    FACTORY_CODE_HASH: {
      parse: hash,
      text: 'The keccak256 of the code at `FACTORY_ADDRESS`, if that is a factory of another version that you trust. Without it the service does not start on unknown code.',
    },
    FORMER_FACTORIES: {
      parse: formerFactories,
      show: (factories: readonly Address[]) => factories.join(',') || 'none',
      otherwise: 'not set',
      text: 'Earlier factories of this sale, separated by commas, or `none`. Required at the first start on a real chain if `PAYMENT_ADDRESS` was used before, because a payment must never count at two factories (docs/MOVING.md).',
    },
    FINALITY: {
      parse: finality,
      default: 'guarded',
      text: 'When the service mints for a payment: `guarded` (immediately; the mint reverts on any fork without the payment), `finalized`, or after a number of confirmations.',
    },
    FEE_CAP_WEI: {
      parse: wei,
      otherwise: '500 gwei on Ethereum and elsewhere, 50 on known rollups',
      example: '50000000000',
      text: 'The highest total fee per gas that the service offers. It never offers more than recent blocks require.',
    },
    TIP_MAX_WEI: {
      parse: wei,
      otherwise: '10 gwei on Ethereum, 2 on known rollups, 100 elsewhere',
      text: 'The highest tip per gas of a first offer, which is never more than recent blocks require. A stuck transaction is raised above it, up to FEE_CAP_WEI.',
    },
  },
} satisfies SettingGroup
