// The parts that exceed the limits of scripts/tidy.ts, with reasons. The list may only shrink.
import type { Exceptions } from './tidy.ts'

const METHODS = 'makes an object of small methods over what they share: its length is theirs'
const WIRING = 'puts parts together, each once, in the order in which they need each other'
const ROWS = 'a table in code, one row a line or two'
const CASES = 'one table of cases, or one story in order; a cut would part what belongs together'
const STORIES = 'one file a story, and a name that says which'

/** Files of src with fewer than a dozen lines, each with its reason. */
export const SMALL: Readonly<Record<string, string>> = {
  'src/lib/json.ts': 'How amounts become JSON, for every folder',
  'src/lib/node-http.ts': 'one line around a fault of Node, which its head explains',
}

export const EXCEPTIONS: Exceptions = {
  file: {
    'test/config/load.test.ts': [656, `${CASES}: every setting`],
    'test/chain/observe.test.ts': [571, CASES],
    'test/faults/soak.ts': [686, 'one era of the soak: what it draws, does and counts'],
    'test/sim/model/factory.ts': [659, 'the contract as a model, in the order of its source'],
    'test/sim/history.ts': [579, 'the second ledger of the simulation, event by event'],
    'test/http/reads.test.ts': [489, CASES],
    'test/domain/replay.test.ts': [502, CASES],
    'test/cli/commands.test.ts': [475, CASES],
    'test/http/sign-in.test.ts': [429, CASES],
    'test/support/world.ts': [407, 'one world, wired for every test'],
    'test/support/invariants.ts': [424, 'every invariant, each a statement of SQL'],
  },
  function: {
    'test/support/fault-proxy.ts: startFaultProxy': [154, METHODS],
    'test/chain/kms/double.ts: startKms': [122, METHODS],
    'test/support/http-campaign.ts: generators': [148, ROWS],
    'src/chain/factory/contract.ts: createContractReader': [119, METHODS],
    'src/domain/judgement.ts: judgePayment': [64, 'the rules of a sale, one a line, in the order in which they decide'],
    'src/chain/evidence/reader.ts: readerThrough': [64, METHODS],
    'src/boot/app.ts: build': [91, WIRING],
    'src/chain/rpc/rpc.ts: createRpc': [105, METHODS],
    'src/metrics/meters.ts: createMeters': [76, ROWS],
    'src/http/edge/pipeline.ts: pipeline': [73, METHODS],
    'test/sim/stage.ts: openStage': [69, WIRING],
    'test/support/world.ts: worldOn': [77, WIRING],
    'test/support/browser-wallet.ts: installWallet': [67, METHODS],
    'src/chain/pages/readings.ts: createReadings': [73, METHODS],
    'src/http/server.ts: createServer': [65, METHODS],
    'test/faults/misconfigured.ts: settingsFor': [64, ROWS],
    'test/support/faults/send-rules.ts: createSendRules': [69, METHODS],
    'scripts/demo/chain.ts: openChain': [66, WIRING],
    'test/support/service.ts: startOnce': [63, WIRING],
    'test/chain/stage.ts: startStage': [62, WIRING],
  },
  folder: {
    'test/passes': [34, STORIES],
    'test/http': [28, STORIES],
    'test/support': [30, STORIES],
  },
}
