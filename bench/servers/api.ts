// The HTTP surface in its own process, for the bench of reads: as the service builds it, but without passes, and without chain readings, because they
// would measure another machine. Behind a trusted proxy, so that each request can come from a different client.
//   node bench/servers/api.ts <database url> memoised | plain
import type { AddressInfo } from 'node:net'
import { checksum } from '../../src/chain/digest.ts'
import { recoverSigner } from '../../src/chain/pages/wallets.ts'
import { listenForChanges } from '../../src/db/core/changes.ts'
import { connect } from '../../src/db/core/sql.ts'
import { createServer } from '../../src/http/server.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createMetrics } from '../../src/metrics/server.ts'
import { withoutChain } from '../../test/http/edge/no-chain.ts'
import { CONNECTIONS } from '../lib/reads-setup.ts'

const [url = '', mode] = process.argv.slice(2)
const sql = connect(url, { max: CONNECTIONS, prepare: true, applicationName: 'bench api' })
const changes = mode === 'memoised' ? listenForChanges(url, silentLog) : null
const app = createServer({
  sql,
  readSql: sql,
  changes,
  ...withoutChain(sql),
  priceFeed: null,
  checksum,
  recoverSigner,
  verifyContractWallet: null,
  proveContractWallet: null,
  meters: createMetrics(silentLog).meters,
  settings: {
    chainId: 31337,
    factoryAddress: null,
    publicRpcUrl: null,
    embedded: false,
    quoteTier: null,
    cronKey: null,
    adminKeys: [],
    sessionSecret: 'session-secret-of-the-bench-01234567',
    previousSessionSecret: null,
    publicUrl: 'https://ledger.example',
    trustedProxies: ['127.0.0.1'],
    frameAncestors: [],
    production: true,
    staleAfterSec: 300,
    tickSec: 60,
    distMode: 'treasury',
    described: {},
  },
  clock: Date.now,
  monotonicClock: () => performance.now(),
  log: silentLog,
})
await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`listening ${(app.server.address() as AddressInfo).port}`)
process.once('SIGTERM', () => process.exit())
