// What a contract wallet answers about a call (EIP-5792 and its drafts), and what the client makes of each answer. Only a definite failure may say
// that nothing moved, because the buyer then pays again.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createClient, custom } from 'viem'
import { explained, WalletError } from '../../client/src/viem/errors.ts'
import { type OwnWallet, sendCall, sendTogether } from '../../client/src/viem/send.ts'

const SAFE = '0x00000000000000000000000000000000000005af'
const hash = (digit: string) => `0x${digit.repeat(64)}` as const
const [A, B] = [hash('a'), hash('b')]
const receipt = (transactionHash: unknown, status: unknown = '0x1') => ({
  ...{ logs: [], blockHash: hash('c'), blockNumber: '0x1', gasUsed: '0x1' },
  ...{ status, transactionHash },
})
const failed = receipt(A, '0x0')
const refusal = (code: number) => Object.assign(new Error('no'), { code })

/** `nothing`: the client says that nothing moved. `unclear`: it says neither. `waits`: it asks again. A hash: the call was sent. */
type Outcome = 'nothing' | 'unclear' | 'waits' | `0x${string}`

const ANSWERS: readonly (readonly [name: string, answer: unknown, outcome: Outcome])[] = [
  ['that it is pending', { status: 100 }, 'waits'],
  ['that it is pending, in a draft’s word', { status: 'PENDING' }, 'waits'],
  ['that it is pending, with a receipt', { status: 100, receipts: [receipt(A)] }, 'waits'],
  ['another number of the pending ones', { status: 199 }, 'waits'],
  ['an unknown word', { status: 'QUEUED' }, 'waits'],
  ['no status', {}, 'waits'],
  ['that it is done', { status: 200, receipts: [receipt(A)] }, A],
  ['that it is done, in a draft’s word', { status: 'CONFIRMED', receipts: [receipt(A)] }, A],
  ['that it is done, in hex', { status: '0xc8', receipts: [receipt(A)] }, A],
  ['another number of the done ones', { status: 201, receipts: [receipt(A)] }, A],
  ['that it is done, without receipts', { status: 200 }, 'unclear'],
  ['that it is done, with null for receipts', { status: 200, receipts: null }, 'unclear'],
  ['that it is done, with an empty list of receipts', { status: 200, receipts: [] }, 'unclear'],
  ['that it is done in a draft’s word, without receipts', { status: 'CONFIRMED' }, 'unclear'],
  ['that it is done, with a receipt without a hash', { status: 200, receipts: [receipt(undefined)] }, 'unclear'],
  ['that it is done, with no hash for a hash', { status: 200, receipts: [receipt('0x')] }, 'unclear'],
  [
    'that it is done, with a receipt that is only a hash',
    { status: 200, receipts: [{ transactionHash: A }] },
    'unclear',
  ],
  ['that it is done, with a receipt without a status', { status: 200, receipts: [receipt(A, undefined)] }, A],
  [
    'that it is done, with a second receipt without a hash',
    { status: 200, receipts: [receipt(A), receipt(undefined)] },
    A,
  ],
  ['that it is done, with two receipts', { status: 200, receipts: [receipt(A), receipt(B)] }, B],
  ['that it is done, with receipts of both kinds', { status: 200, receipts: [receipt(B), failed] }, B],
  // The chain knows best, and the page looks there.
  ['that it is done, with a failed receipt', { status: 200, receipts: [failed] }, A],
  ['that it is done in a draft’s word, with a failed receipt', { status: 'CONFIRMED', receipts: [failed] }, A],
  ['that it failed off the chain', { status: 400 }, 'nothing'],
  ['that it failed off the chain, with an empty list', { status: 400, receipts: [] }, 'nothing'],
  ['another number of those', { status: 499 }, 'nothing'],
  ['that it failed on the chain', { status: 500, receipts: [failed] }, 'nothing'],
  ['that it failed on the chain, without receipts', { status: 500 }, 'nothing'],
  ['another number of those', { status: 599, receipts: [failed] }, 'nothing'],
  ['that it failed, with a receipt that succeeded', { status: 500, receipts: [failed, receipt(B)] }, 'unclear'],
  [
    'that it failed, with a receipt that succeeded and has no hash',
    { status: 500, receipts: [receipt(undefined)] },
    'unclear',
  ],
  ['that it failed in part, without receipts', { status: 600 }, 'unclear'],
  ['that it failed in part, with an empty list', { status: 600, receipts: [] }, 'unclear'],
  ['that it failed in part', { status: 600, receipts: [receipt(B), failed] }, 'unclear'],
  ['a redirection', { status: 300 }, 'unclear'],
  ['an unknown number', { status: 700 }, 'unclear'],
  ['an unknown number, with a receipt', { status: 700, receipts: [receipt(A)] }, 'unclear'],
  ['nothing', null, 'unclear'],
  // It has taken the call, so none of these says that it sends nothing.
  ['that the owner refuses the question', refusal(4001), 'unclear'],
  ['that it does not know the method', refusal(-32601), 'unclear'],
  ['that the parameters are invalid', refusal(-32602), 'unclear'],
  ['that it does not know the call', refusal(5730), 'unclear'],
]

const call = { chainId: 31337, to: SAFE, valueWei: 1n } as const
/** viem asks five times after an error. */
const LOOKS_MAX = 5

const ways = {
  'one call': (wallet: OwnWallet) => sendCall(wallet, call),
  'calls together': (wallet: OwnWallet) => sendTogether(wallet, [call, call]),
}

describe('a contract wallet that has taken', { concurrency: true }, () => {
  for (const [way, send] of Object.entries(ways))
    for (const [name, answer, outcome] of ANSWERS)
      test(`${way}, and answers ${name}: ${outcome.slice(0, 7)}`, () => answered(send, answer, outcome))
})

async function answered(send: (wallet: OwnWallet) => Promise<unknown>, answer: unknown, outcome: Outcome) {
  const asked: string[] = []
  const looks = () => asked.filter((method) => method === 'wallet_getCallsStatus').length
  const answers: Record<string, () => unknown> = {
    eth_getCode: () => '0x60',
    wallet_sendCalls: () => ({ id: '0x1' }),
    wallet_getCallsStatus: () => {
      if (looks() > 1 && outcome === 'waits') return { status: 200, receipts: [receipt(A)] }
      if (looks() > LOOKS_MAX) return { status: 200, receipts: [receipt(hash('d'))] }
      if (answer instanceof Error) throw answer
      return answer && { version: '2.0.0', id: '0x1', chainId: '0x7a69', atomic: true, ...answer }
    },
  }
  const request = async ({ method }: { method: string }) => {
    asked.push(method)
    return (answers[method] ?? assert.fail(method))()
  }
  const wallet = createClient({ account: SAFE, transport: custom({ request }, { retryCount: 0 }) })
  const got = await explained(() => send(wallet)).catch((error: unknown) => {
    if (!(error instanceof WalletError)) return 'unclear'
    assert.deepEqual([error.code, error.message.endsWith('Nothing moved.')], ['reverted', true], error.message)
    return 'nothing'
  })
  assert.equal(got, outcome === 'waits' ? A : outcome)
  if (outcome === 'waits') assert.equal(looks(), 2)
  assert.equal(asked.filter((method) => /send/i.test(method)).length, 1, 'it is asked to send once')
}
