// Lies about what no block contains: accounts, the contract's own figures, heads, finality, a whole fork.
import { toFunctionSelector } from 'viem'
import { factoryTopics } from '../../src/chain/factory/abi.ts'
import type { Rule } from '../chain/false-provider.ts'
import { other, type Wire } from '../follower/lies.ts'
import { BESIDE, type Line, MADE_UP_NODE, MORE, type Scene, USUAL } from './lines.ts'
import {
  all,
  asked,
  blocks,
  changed,
  hex,
  instead,
  lie,
  longerFork,
  NOT_THERE,
  ownFork,
  SILENT,
  view,
  when,
  word,
} from './rules.ts'
import { BASIC } from './stage.ts'

const STATE = ['eth_getProof', 'eth_getBalance', 'eth_getCode', 'eth_getTransactionCount'] as const
const ofAnother = (methods: readonly string[]) => asked(methods, ([, ...rest], { at }) => [at(12), ...rest])
const ofBlockBefore = (methods: readonly string[]) =>
  asked(methods, (params, { from }) => [...params.slice(0, -1), hex(from - 1)])
const more = (by: bigint) => changed('eth_getBalance', (wei: string) => hex(BigInt(wei) + by))
const unproven = (by: bigint) => all(instead('eth_getProof', NOT_THERE), more(by))

const LARGEST = `0x${'f'.repeat(64)}`

const ACCOUNTS: Line[] = [
  ...STATE.filter((method) => method !== 'eth_getCode').flatMap((method): Line[] => [
    { name: `${method} of another account`, tells: ofAnother([method]), stands: BESIDE, isTold: false },
    { name: `${method} of an earlier block`, tells: ofBlockBefore([method]), stands: BESIDE, isTold: false },
  ]),
  { name: 'accounts of an earlier block alike', tells: ofBlockBefore(STATE), stands: BESIDE, isTold: false },
  { name: 'more ether without proofs', tells: unproven(BASIC), stands: ['both', 'only'] },
  { name: 'less ether without proofs', tells: unproven(-1n), stands: ['both', 'only'] },
  // The other provider proves the balance, so nothing asks for this one's figure.
  { name: 'more ether without proofs, beside one', tells: unproven(BASIC), stands: BESIDE, isTold: false },
  { name: 'less ether without proofs, beside one', tells: unproven(-1n), stands: BESIDE, isTold: false },
  {
    name: 'a balance in the proof',
    tells: changed('eth_getProof', (proof: Wire) => ({
      ...proof,
      balance: hex(BigInt(String(proof.balance)) + BASIC),
    })),
    stands: BESIDE,
    // Nothing uses it, because the nodes of the proof say it, too.
    isTold: false,
  },
  {
    name: 'code where there is none',
    tells: all(instead('eth_getProof', NOT_THERE), instead('eth_getCode', { result: '0x6001' })),
    stands: BESIDE,
    isTold: false,
  },
  {
    name: 'a nonce of ours that is too high',
    tells: changed('eth_getTransactionCount', (count: string) => hex(BigInt(count) + 5n)),
    stands: BESIDE,
    isTold: false,
  },
  {
    name: 'a nonce of ours that cannot be',
    tells: instead('eth_getTransactionCount', { result: LARGEST }),
    stands: BESIDE,
    isTold: false,
  },
  { name: 'no ether for gas', tells: instead('eth_getBalance', { result: '0x0' }), stands: BESIDE, isTold: false },
  {
    name: 'a nonce of ours that is too low',
    tells: instead('eth_getTransactionCount', { result: '0x0' }),
    stands: USUAL,
    isTold: false,
  },
]

const NODES_INFO = toFunctionSelector('nodesInfo(uint256,uint256)')
const paddedTo64 = (value: bigint) => value.toString(16).padStart(64, '0')

/** The first node, told again as one more, which belongs to the stranger. */
function madeUpNode({ chain, factory, at }: Scene): Rule {
  const [real, told] = [paddedTo64(1n), paddedTo64(MADE_UP_NODE)]
  const disguised = async (answer: unknown) => {
    const minted = await chain.rpc<{ topics: string[] }[]>('eth_getLogs', [
      { address: factory, fromBlock: '0x1', topics: [factoryTopics.NodeMinted, `0x${real}`] },
    ])
    const ref = String(minted[0]?.topics[3])
    const text = JSON.stringify(answer).replaceAll(at(5).slice(2), at(14).slice(2))
    return JSON.parse(text.replaceAll(ref, other(ref)).replaceAll(ref.slice(2), other(ref).slice(2)))
  }
  /** The logs of the first node that a filter names, as those of the node that does not exist. */
  const toldLogs = async (filter: object) => {
    const logs = await chain.rpc<Wire[]>('eth_getLogs', [JSON.parse(JSON.stringify(filter).replaceAll(told, real))])
    const moved = logs.map(({ topics, logIndex, ...log }) => {
      const renamed = (topics as string[]).map((topic) => (topic === `0x${real}` ? `0x${told}` : topic))
      return { ...log, topics: renamed, logIndex: hex(Number(logIndex) + 100) }
    })
    return (await disguised(moved)) as Wire[]
  }
  return async ({ method, params }, forward) => {
    const asked = JSON.stringify(params)
    const [filter] = params as [{ blockHash?: string }]
    if (method === 'eth_getLogs' && filter.blockHash) {
      const { result } = (await forward()) as { result: Wire[] }
      const isOfFirst = result.some(({ topics }) => (topics as string[]).includes(`0x${real}`))
      return isOfFirst ? { result: [...result, ...(await toldLogs(filter))] } : { result }
    }
    if (!asked.includes(told)) return undefined
    if (method === 'eth_getLogs') return { result: await toldLogs(filter) }
    if (method !== 'eth_call' || !asked.includes(NODES_INFO)) return undefined
    const answer = await disguised(await chain.rpc(method, JSON.parse(asked.replaceAll(told, real))))
    // An offset and a length stand before the node's id.
    return { result: answer.replace(/(?<=^0x.{128}).{64}/, told) }
  }
}

const nobody = () => 0x57n
/** Nothing proves a call's answer, so no person needs to hear of a false one while the sale goes on. */
const CONTRACT: Line[] = [
  { name: 'the distributor is another', tells: word('distributor', nobody), stands: BESIDE, isTold: false },
  { name: 'the budget is spent', tells: word('budget', () => 0n), stands: BESIDE, isTold: false },
  { name: 'the budget of cohorts is spent', tells: word('budget', () => 0n, 1), stands: BESIDE, isTold: false },
  { name: 'wallets may have no node', tells: word('maxPerWallet', () => 0n), stands: USUAL, isTold: false },
  { name: 'another last cohort', tells: word('lastCohort', (value) => value + 3n), stands: BESIDE, isTold: false },
  {
    name: 'the bounds exclude every amount',
    tells: word('bounds', () => 2n ** 48n - 1n),
    stands: BESIDE,
    isTold: false,
  },
  { name: 'the contract is paused', tells: word('paused', () => 1n), stands: USUAL, isTold: false },
  { name: 'the contract is not solvent', tells: word('isSolvent', () => 0n), stands: BESIDE, isTold: false },
  { name: 'a node more', tells: word('lastId', (value) => value + 1n), stands: BESIDE, isTold: false },
  { name: 'a round more', tells: word('round', (value) => value + 1n), stands: BESIDE, isTold: false },
  { name: 'cohorts that are larger', tells: word('cohort', (value) => value + 1n, 1), stands: USUAL, isTold: false },
  { name: 'cohorts due later', tells: word('cohort', (value) => value + 600n, 2), stands: BESIDE, isTold: false },
  { name: 'cohorts of another tier', tells: word('cohort', () => 2n, 4), stands: BESIDE, isTold: false },
  {
    name: 'nodes of another owner',
    tells: view('nodesInfo', (data, { at }) => data.replaceAll(at(5).slice(2), at(14).slice(2))),
    stands: BESIDE,
    isTold: false,
  },
  { name: 'a node that a stranger asks for', tells: madeUpNode, stands: USUAL, isTold: false, isAskedFor: true },
  {
    name: 'each estimate reverts',
    tells: instead('eth_estimateGas', { error: { code: 3, message: 'execution reverted' } }),
    stands: MORE,
    isTold: false,
  },
  {
    name: 'each estimate is more than a transaction may use',
    tells: instead('eth_estimateGas', { result: '0x3938700' }),
    stands: BESIDE,
    isTold: false,
  },
  {
    name: 'each estimate is impossible',
    tells: instead('eth_estimateGas', { result: '0x8000000000000000' }),
    stands: BESIDE,
    isTold: false,
  },
  {
    name: 'each figure is the largest',
    tells: changed('eth_call', (data: string) => `0x${'f'.repeat(data.length - 2)}`),
    stands: BESIDE,
    isTold: false,
  },
  {
    name: 'each estimate is too low',
    tells: instead('eth_estimateGas', { result: '0x5208' }),
    stands: BESIDE,
    isTold: false,
  },
]

const isTag = (tag: string) =>
  when(
    ({ params }) => params[0] === tag,
    () => () => SILENT,
  )
const atTag = (tag: string, number: (scene: { from: number }) => string) =>
  asTag(tag, async (chain, isFull, scene) => await chain.rpc('eth_getBlockByNumber', [number(scene), isFull]))
function asTag(
  tag: string,
  block: (
    chain: { rpc: (method: string, params: unknown[]) => Promise<unknown> },
    isFull: unknown,
    scene: { from: number },
  ) => Promise<unknown>,
) {
  return when(
    ({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === tag,
    (scene) => async (call) => ({ result: await block(scene.chain as never, call.params[1], scene) }),
  )
}

const HEADS: Line[] = [
  { name: 'finalized too high', tells: lie('finalized too high'), stands: BESIDE, isTold: false },
  { name: 'finalized silent', tells: isTag('finalized'), stands: BESIDE, isTold: false },
  {
    name: 'latest too high',
    tells: asTag('latest', async (chain) => {
      const block = (await chain.rpc('eth_getBlockByNumber', ['latest', true])) as Wire
      return { ...block, number: hex(Number(block.number) + 100) }
    }),
    stands: BESIDE,
    isTold: false,
  },
  {
    name: 'latest too low',
    tells: atTag('latest', ({ from }) => hex(from - 1)),
    stands: USUAL,
    // By an only provider nothing contradicts it but the clock. The alert NodeLedgerChainStalled compares both.
    isTold: false,
    isUnseen: true,
  },
  { name: 'latest far too low', tells: atTag('latest', () => '0x2'), stands: BESIDE, isTold: false },
  {
    name: 'heads in a form that is none',
    tells: asTag('latest', async (chain, isFull) => {
      const block = (await chain.rpc('eth_getBlockByNumber', ['latest', isFull])) as Wire
      return { ...block, number: String(block.number).toUpperCase() }
    }),
    stands: BESIDE,
    isTold: false,
  },
  { name: 'latest silent', tells: isTag('latest'), stands: BESIDE, isTold: false },
  {
    name: 'no block known to the contract',
    tells: lie('no block known to the contract'),
    stands: ['restart'],
    isTold: false,
  },
  {
    name: 'another hash of the guard’s block',
    tells: blocks((block, _, { params }) =>
      params[1] === false && params[0] !== 'latest' && params[0] !== 'finalized'
        ? { ...block, hash: other(block.hash) }
        : block,
    ),
    stands: ['first', 'second'],
  },
  { name: 'a fork of its own', tells: ownFork, stands: ['first', 'second', 'only', 'restart'], isFork: true },
  { name: 'a longer fork of its own', tells: longerFork, stands: ['first', 'only'], isFork: true },
]

/** These lies, by what they are about. */
export const LIARS_OF_STATE: Readonly<Record<string, readonly Line[]>> = {
  accounts: ACCOUNTS,
  'the contract': CONTRACT,
  'heads and forks': HEADS,
}
