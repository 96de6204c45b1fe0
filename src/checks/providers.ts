// The checks of what providers do not report themselves: whether they return the state of the requested block, and how the chain counts gas. Each
// sends a request whose right answer we know.
import type { Rpc } from '../chain/rpc/rpc.ts'
import { quantity, toQuantity } from '../chain/rpc/wire.ts'
import { TX_GAS_MAX } from '../chain/send/signer-account.ts'
import type { Address } from '../domain/units.ts'
import { type Checks, check, checkEach } from './check.ts'

export interface ProviderExamined {
  readonly factory: Address
  readonly rpc: Rpc
  readonly headNumber: number
}

/** No chain makes this many blocks while the doctor runs. */
const NOT_THERE_YET = 10_000_000
/** Minting a node takes about this many times the gas of a transfer. */
const MINT_BY_TRANSFERS = 8n
const NOBODY = `0x${'0'.repeat(36)}dead`

export const ASKED_CHECKS: Checks<ProviderExamined> = {
  'chain.states': checkEach(null, tryNoBlock, null, ({ host, answersForNoBlock }) => {
    if (!answersForNoBlock) return `${host} returns states of the requested block`
    return {
      says: `${host} returns a balance after a block that does not exist yet: it ignores the requested block`,
      fail: 'Use another provider: this one would give holdings and contract wallets’ payments as of the wrong block.',
    }
  }),

  'chain.gas': check(null, tryTransfer, (gas) => {
    if (gas === null) return null
    if (gas * MINT_BY_TRANSFERS <= TX_GAS_MAX) return `a transfer takes ${gas} gas`
    return {
      says: `a transfer takes ${gas} gas here, and no transaction of ours may carry more than ${TX_GAS_MAX} (EIP-7825)`,
      fail: 'This version cannot mint on a chain that counts gas like this.',
    }
  }),
}

function tryNoBlock({ factory, rpc, headNumber }: ProviderExamined) {
  const calls = rpc.providers.map(async ({ host, call }) => {
    const reply = await call('eth_getBalance', [factory, toQuantity(headNumber + NOT_THERE_YET)])
    return { host, answersForNoBlock: reply.ok && reply.result !== null }
  })
  return Promise.all(calls)
}

async function tryTransfer({ rpc }: ProviderExamined): Promise<bigint | null> {
  const reply = await rpc.call('eth_estimateGas', [{ to: NOBODY, value: '0x0' }])
  return reply.ok ? quantity(reply.result, 'gas estimate') : null
}
