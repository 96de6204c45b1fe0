// The checks of what providers do not report themselves: how many calls they accept in a batch, whether they return the state of the requested block,
// and how the chain counts gas. Each sends a request whose right answer we know.
import { RpcFault } from '../../chain/faults.ts'
import type { ProviderProbe } from '../../chain/rpc/probe.ts'
import { createProvider } from '../../chain/rpc/provider.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import { quantity, toQuantity } from '../../chain/rpc/wire.ts'
import { TX_GAS_MAX } from '../../chain/send/signer-account.ts'
import type { Address } from '../../domain/units.ts'
import type { Checks } from './check.ts'

export interface ProviderExamined {
  readonly chain: { readonly factory: Address; readonly rpcUrls: readonly string[] }
  readonly rpc: Rpc
  readonly headNumber: number
  readonly probes: readonly { readonly host: string; readonly probe: ProviderProbe | Error }[]
}

/** The batch sizes to try. The service starts with the first, and halves a batch that a provider rejects. */
const BATCHES = [50, 10, 3, 1]
const TIMEOUT_MS = 5_000
const REPLY_BYTES_MAX = 1024 * 1024
/** No chain makes this many blocks while the doctor runs. */
const NOT_THERE_YET = 10_000_000
/** Minting a node takes about this many times the gas of a transfer. */
const MINT_BY_TRANSFERS = 8n
const NOBODY = `0x${'0'.repeat(36)}dead`

export const ASKED_CHECKS: Checks<ProviderExamined> = {
  'chain.batches': ({ chain: { rpcUrls } }) =>
    Promise.all(
      rpcUrls.map(async (url) => {
        const { host, most } = await mostAtOnce(url)
        if (most === null) return { unknown: `${host} does not answer` }
        return {
          says: `${host} takes ${most === 1 ? 'single calls alone' : `batches of ${most}`}`,
          reading: { host, most },
        }
      }),
    ),

  'chain.states': ({ chain: { factory }, rpc, headNumber }) =>
    Promise.all(
      rpc.providers.map(async (provider) => {
        const reply = await provider.call('eth_getBalance', [factory, toQuantity(headNumber + NOT_THERE_YET)])
        const reading = { host: provider.host, answersForNoBlock: reply.ok && reply.result !== null }
        if (!reading.answersForNoBlock)
          return { says: `${provider.host} returns states of the requested block`, reading }
        return {
          says: `${provider.host} returns a balance after a block that does not exist yet: it ignores the requested block`,
          fail: 'Use another provider: what contract wallets pay, and holdings, would be read at the wrong block.',
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

async function mostAtOnce(url: string): Promise<{ host: string; most: number | null }> {
  const provider = createProvider({ url, replyBytesMax: REPLY_BYTES_MAX })
  try {
    for (const most of BATCHES) {
      const calls = Array.from({ length: most }, () => ({ method: 'eth_chainId', params: [] }))
      try {
        const replies = await provider.batch(calls, TIMEOUT_MS)
        if (replies.every(({ ok }) => ok)) return { host: provider.host, most }
      } catch (error) {
        if (!(error instanceof RpcFault)) throw error
      }
    }
    return { host: provider.host, most: null }
  } finally {
    await provider.close()
  }
}
