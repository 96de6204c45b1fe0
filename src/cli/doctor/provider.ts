// The checks of what providers do not report themselves: whether they return the state of the requested block, and how the chain counts gas. Each
// sends a request whose right answer we know.
import type { Rpc } from '../../chain/rpc/rpc.ts'
import { quantity, toQuantity } from '../../chain/rpc/wire.ts'
import { TX_GAS_MAX } from '../../chain/send/signer-account.ts'
import type { Address } from '../../domain/units.ts'
import type { Checks } from './check.ts'

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
  'chain.states': ({ factory, rpc, headNumber }) =>
    Promise.all(
      rpc.providers.map(async (provider) => {
        const reply = await provider.call('eth_getBalance', [factory, toQuantity(headNumber + NOT_THERE_YET)])
        const reading = { host: provider.host, answersForNoBlock: reply.ok && reply.result !== null }
        if (!reading.answersForNoBlock)
          return { says: `${provider.host} returns states of the requested block`, reading }
        return {
          says: `${provider.host} returns a balance after a block that does not exist yet: it ignores the requested block`,
          fail: 'Use another provider: this one would give holdings and contract wallets’ payments as of the wrong block.',
          reading,
        }
      }),
    ),

  'chain.gas': async ({ rpc }) => {
    const reply = await rpc.call('eth_estimateGas', [{ to: NOBODY, value: '0x0' }])
    if (!reply.ok) return null
    const gas = quantity(reply.result, 'gas estimate')
    const reading = { transferGas: gas, mostGas: TX_GAS_MAX }
    if (gas * MINT_BY_TRANSFERS <= TX_GAS_MAX) return { says: `a transfer takes ${gas} gas`, reading }
    return {
      says: `a transfer takes ${gas} gas here, and no transaction of ours may carry more than ${TX_GAS_MAX} (EIP-7825)`,
      fail: 'This version cannot mint on a chain that counts gas like this.',
      reading,
    }
  },
}
