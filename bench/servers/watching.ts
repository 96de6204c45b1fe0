// How a service written with viem alone would see payments and the contract's events: it polls full blocks and the
// contract's logs at the chain's own pace, and reads a receipt for each payment.
//   node bench/servers/watching.ts <origin of the provider> <factory> <payments wallet> <seconds a block>
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPublicClient, http } from 'viem'

const [origin = '', factory = '', wallet = '', blockSec = ''] = process.argv.slice(2)
const client = createPublicClient({ transport: http(origin), pollingInterval: Number(blockSec) * 1000 })
client.watchBlocks({
  includeTransactions: true,
  emitMissed: true,
  onBlock: async ({ transactions }) => {
    for (const { to, hash } of transactions)
      if (to?.toLowerCase() === wallet.toLowerCase()) await client.getTransactionReceipt({ hash })
  },
})
client.watchEvent({ address: factory as `0x${string}`, poll: true, onLogs: () => {} })

const server = createServer((_, response) => response.end())
server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`))
process.once('SIGTERM', () => process.exit())
