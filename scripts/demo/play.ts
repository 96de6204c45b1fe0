// Plays one wallet from its payment to its withdrawal: first as a buyer, then as an owner. Every step compares the API
// with the chain. If they differ, the wallet stops with a Trouble.
import type { Account } from 'viem'
import { formatEther } from 'viem'
import type { Api, Claim, Distribution, Node, NodeDetail, Tier } from './api.ts'
import { type DemoChain, recompute } from './chain.ts'
import { sleep, Trouble, until } from './trouble.ts'

export const STAGES = ['paid', 'minted', 'credited', 'withdrawn', 'agreed'] as const
export type Stage = (typeof STAGES)[number]

export interface Part {
  readonly api: Api
  readonly chain: DemoChain
  readonly paymentAddress: `0x${string}`
  readonly account: Account
  readonly tier: Tier
  /** True to claim the payment at once. If false, the service's next pass finds it. */
  readonly claims: boolean
  /**
   * How long we wait after an event on chain before we first poll the API, and between polls after that. All wallets
   * share the rate limits, so a crowd has to poll slowly.
   */
  readonly patience: { readonly firstMs: number; readonly thenMs: number }
  /** Called at each stage. */
  readonly onStage: (stage: Stage) => void
  /** Called with each line of the story. */
  readonly tell: (line: string) => void
  /** Called with what the demo is waiting for; null when the wait is over. `untilMs`: the expected time. */
  readonly onWait: (what: string | null, untilMs?: number) => void
}

/** How long we wait for a credit. The embedded defaults credit within a minute. */
const CREDIT_WAIT_MAX_MS = 15 * 60_000
/** How late a round may be, because after its due time it waits for the next pass and a block. */
const ROUND_GRACE_MS = 60_000
const MINT_WAIT_MS = 90_000
const SHOWN_WAIT_MS = 60_000
/** Interval of polls of the chain, which has no rate limit. */
const CHAIN_POLL_MS = 1_000
/** Interval of claims while the service's provider does not have the payment yet. */
const CLAIM_POLL_MS = 2_000

/** Plays the part. Resolves with the node as it is at the end. */
export async function play(part: Part): Promise<NodeDetail> {
  const node = await buy(part)
  const credited = await waitForCredit(part, node)
  return await compare(part, await withdrawAll(part, credited))
}

async function buy(part: Part): Promise<Node> {
  const { api, chain, paymentAddress, account, tier, claims, tell, onStage, onWait } = part
  const before = await chain.nodesOf(account.address)
  const { transactionHash, blockNumber } = await chain.pay(account, paymentAddress, BigInt(tier.priceWei))
  tell(`paid ${formatEther(BigInt(tier.priceWei))} ETH in block ${blockNumber}: ${transactionHash}`)
  onStage('paid')
  if (claims) {
    const { status, body } = await claimKnown(api, transactionHash)
    tell(`POST /api/payments/claim answers ${status}: ${describeClaim(body)}`)
  }
  onWait('the node')
  const minted = async () => ((await chain.nodesOf(account.address)).length > before.length ? true : null)
  try {
    await until(minted, { everyMs: CHAIN_POLL_MS, withinMs: MINT_WAIT_MS, late: '' })
  } catch (error) {
    if (!(error instanceof Trouble)) throw error
    const { body } = await claimKnown(api, transactionHash)
    throw new Trouble(`No node after ${MINT_WAIT_MS / 1000} s; the payment is ${describeClaim(body)}.`)
  }
  const mine = async () => {
    const nodes = await api.get<Node[]>(`/api/nodes/${account.address}`)
    return nodes.find((node) => node.paymentTxHash === transactionHash) ?? null
  }
  const node = await shown(part, mine, 'The chain has the node, the API does not show it.')
  onWait(null)
  tell(`GET /api/nodes/${account.address} shows node ${node.nodeId}, minted by ${node.mintTxHash}`)
  if (!(await chain.nodesOf(account.address)).includes(BigInt(node.nodeId))) {
    throw new Trouble(`The contract's nodesOf does not name node ${node.nodeId}, which the API shows.`)
  }
  tell("the contract's nodesOf names it, too")
  onStage('minted')
  return node
}

/** Waits until the API shows what the chain has. */
async function shown<T>({ patience }: Part, read: () => Promise<T | null>, late: string): Promise<T> {
  await sleep(patience.firstMs)
  return await until(read, { everyMs: patience.thenMs, withinMs: SHOWN_WAIT_MS + patience.thenMs * 3, late })
}

/** Claims a payment, and retries while the provider is a block behind. */
async function claimKnown(api: Api, txHash: string) {
  return await until(
    async () => {
      const answer = await api.claim(txHash)
      return answer.status === 409 ? null : answer
    },
    { everyMs: CLAIM_POLL_MS, withinMs: SHOWN_WAIT_MS, late: `The service does not find ${txHash} on its chain.` },
  )
}

function describeClaim({ status, reason, nodeId, error }: Claim & { error?: string }): string {
  if (error !== undefined) return error
  return [status, reason === null ? '' : ` (${reason})`, nodeId === null ? '' : `, node ${nodeId}`].join('')
}

async function waitForCredit(part: Part, node: Node): Promise<NodeDetail> {
  const { api, chain, tell, onStage, onWait } = part
  const nodeId = BigInt(node.nodeId)
  if (node.nextCreditAt === null) throw new Trouble(`Node ${node.nodeId} has no time of a next credit.`)
  const waitMs = Date.parse(node.nextCreditAt) - Date.now()
  if (waitMs > CREDIT_WAIT_MAX_MS) {
    throw new Trouble(
      `Node ${node.nodeId} is credited at ${node.nextCreditAt} first, too late to watch. Start the service with CREDIT_INTERVAL_SEC=60.`,
    )
  }
  onWait(`its first round, due at ${node.nextCreditAt}`, Date.parse(node.nextCreditAt))
  const isCredited = async () => ((await chain.nodeInfo(nodeId)).creditedWei > 0n ? true : null)
  const late = `No round has credited node ${node.nodeId}, due at ${node.nextCreditAt}. GET /api/cron/health tells how the worker is.`
  await until(isCredited, { everyMs: CHAIN_POLL_MS, withinMs: Math.max(0, waitMs) + ROUND_GRACE_MS, late })
  const withCredit = async () => {
    const detail = await api.get<NodeDetail>(`/api/node/${node.nodeId}`)
    return detail.credits.length > 0 ? detail : null
  }
  const detail = await shown(part, withCredit, 'The chain has the credit, the API does not show it.')
  onWait(null)
  const credit = detail.credits.at(-1)
  tell(`GET /api/node/${node.nodeId} shows ${credit?.amountWei} wei, of round ${credit?.distributionId}`)
  if (credit) await checkDraw({ api, chain, tell }, nodeId, credit)
  onStage('credited')
  return detail
}

/** Checks a credit against the seed and the terms that its round publishes. */
async function checkDraw(
  { api, chain, tell }: Pick<Part, 'api' | 'chain' | 'tell'>,
  nodeId: bigint,
  credit: NodeDetail['credits'][number],
): Promise<void> {
  const rounds = await api.get<Distribution[]>('/api/distributions?limit=200')
  const round = rounds.find(({ id }) => id === credit.distributionId)
  const { cohort } = await chain.nodeInfo(nodeId)
  const turn = round?.turns.find((candidate) => BigInt(candidate.cohort) === cohort)
  if (round === undefined || turn === undefined) {
    throw new Trouble(`GET /api/distributions does not show cohort ${cohort} in round ${credit.distributionId}.`)
  }
  tell(
    `GET /api/distributions: round ${round.id} (${round.mode}) paid ${round.totalWei} wei to ${round.nodeCount} node(s)`,
  )
  const expected = recompute(turn)
  if (expected?.toString() !== credit.amountWei || turn.amountWei !== credit.amountWei) {
    throw new Trouble(`Round ${round.id}: its seed gives ${expected} wei, the credit is ${credit.amountWei}.`)
  }
  tell(`recomputed from the seed of block ${turn.seedBlock}: ${expected} wei, the same`)
}

async function withdrawAll(part: Part, node: NodeDetail): Promise<NodeDetail> {
  const { api, chain, account, tell, onStage, onWait } = part
  const nodeId = BigInt(node.nodeId)
  const { balanceWei } = await chain.nodeInfo(nodeId)
  const { transactionHash, blockNumber } = await chain.withdraw(account, nodeId, balanceWei)
  tell(`the owner's wallet called withdraw for ${balanceWei} wei in block ${blockNumber}: ${transactionHash}`)
  onWait('the withdrawal to show')
  const withWithdrawal = async () => {
    const detail = await api.get<NodeDetail>(`/api/node/${node.nodeId}`)
    return detail.withdrawals.some(({ txHash }) => txHash === transactionHash) ? detail : null
  }
  const late = `The withdrawal ${transactionHash} is on the chain, the API does not show it.`
  const detail = await shown(part, withWithdrawal, late)
  onWait(null)
  const row = detail.withdrawals.find(({ txHash }) => txHash === transactionHash)
  if (row?.status !== 'sent' || row.amountWei !== balanceWei.toString()) {
    throw new Trouble(`The API shows the withdrawal as ${row?.status} of ${row?.amountWei} wei; it was ${balanceWei}.`)
  }
  tell(`GET /api/node/${node.nodeId} shows it: ${row.amountWei} wei to ${row.toAddress}, ${row.status}`)
  onStage('withdrawn')
  return detail
}

/** Compares the API's figures with the contract's, both as of the block that the API names. */
async function compare(part: Part, latest: NodeDetail): Promise<NodeDetail> {
  const { chain, tell, onStage } = part
  const { detail, reading } = readingOf(latest) ?? (await readAgain(part, latest.nodeId))
  const { nodeId } = detail
  const { blockNumber } = reading
  const { owner, balanceWei, creditedWei, withdrawnWei } = await chain.nodeInfo(BigInt(nodeId), blockNumber)
  const onChain = { owner, balanceWei: `${balanceWei}`, creditedWei: `${creditedWei}`, withdrawnWei: `${withdrawnWei}` }
  for (const name of ['owner', 'balanceWei', 'creditedWei', 'withdrawnWei'] as const) {
    const [ledger, contract] = [detail[name], onChain[name]]
    if (ledger !== contract) throw new Trouble(`Node ${nodeId}: ${name} is ${ledger} in the API, ${contract} on chain.`)
  }
  if (!reading.matchesLedger) throw new Trouble(`Node ${nodeId}: the API itself says that it differs from the chain.`)
  tell(
    `ledger and nodeInfo at block ${blockNumber} are equal: credited ${creditedWei}, withdrawn ${withdrawnWei}, balance ${balanceWei} wei`,
  )
  onStage('agreed')
  return detail
}

function readingOf(detail: NodeDetail) {
  return detail.chain === null ? null : { detail, reading: detail.chain }
}

/**
 * Reads a node until it has the chain's part. The API waits 300 ms for its reading of the chain and then leaves it out,
 * so on a busy machine we may need another attempt.
 */
async function readAgain(part: Part, nodeId: string) {
  const read = async () => readingOf(await part.api.get<NodeDetail>(`/api/node/${nodeId}`))
  return await shown(part, read, `GET /api/node/${nodeId} could not read the chain.`)
}

/** Pays one wei too much, and checks that the service refuses the claim. Resolves with a later check that the payment did not become a node. */
export async function payWrongly({
  api,
  chain,
  paymentAddress,
  account,
  tier,
  tell,
}: Part): Promise<() => Promise<void>> {
  const valueWei = BigInt(tier.priceWei) + 1n
  const { transactionHash } = await chain.pay(account, paymentAddress, valueWei)
  tell(`paid one wei too much, ${valueWei} wei: ${transactionHash}`)
  const { status, body } = await claimKnown(api, transactionHash)
  if (status !== 400) throw new Trouble(`A claim of one wei too much was answered ${status}: ${describeClaim(body)}`)
  tell(`POST /api/payments/claim answers 400: ${body.error}`)
  return async () => {
    const nodes = await api.get<Node[]>(`/api/nodes/${account.address}`)
    // A mint carries its payment's hash on chain.
    const minted = (await chain.nodeOfRef(transactionHash)) !== 0n
    if (minted || nodes.some((node) => node.paymentTxHash === transactionHash)) {
      throw new Trouble(`The payment of one wei too much has become a node: ${transactionHash}`)
    }
    tell('the payment of one wei too much is still no node: it waits for the operator')
  }
}
