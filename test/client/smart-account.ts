// A contract account, such as a Safe or a smart account: it pays by a call within its owner's transaction, and its wallet speaks
// EIP-5792. The contract is as small as can be. The wallet is this file's, and signs with a real key against a real chain.
import { createClient, createWalletClient, custom, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import type { Address } from '../../src/domain/units.ts'
import { SPLIT, splitTo } from '../support/forwarder.ts'
import { HANGING_MS } from '../support/until.ts'

type Hex = `0x${string}`

/**
 * Runtime code that accepts ether, and makes a call: CALL(GAS, first word, second word, the rest of the calldata),
 * REVERT if that failed.
 */
const EXECUTE = '0x36600557005b60403603806040600037600060008260006020356000355af115602457005b60006000fd'

const word = (value: bigint | Hex) => BigInt(value).toString(16).padStart(64, '0')

export interface SmartAccount {
  /** A viem client of the account, whose wallet speaks EIP-5792. */
  client: ReturnType<typeof clientOf>
  /** The methods called on its wallet, in order. */
  asked: string[]
}

interface Call {
  to: Hex
  value?: Hex
  data?: Hex
}

interface Request {
  method: string
  params?: unknown
}

interface AccountOptions {
  address: Hex
  owner: number
  speaks?: boolean
  sends?: boolean
  batches?: boolean
}

/**
 * Puts an account with ether at `address`, owned by a development account. `speaks` is false for a wallet without
 * EIP-5792, `sends` for one that sends no transaction for a page. `batches` is true for an account that pays several
 * in one transaction, and makes no other calls.
 */
export async function putSmartAccount(
  rpcUrl: string,
  { address, owner, speaks = true, sends = true, batches = false }: AccountOptions,
): Promise<SmartAccount> {
  const key = DEVELOPMENT_ACCOUNTS[owner]?.privateKey
  if (!key) throw new Error(`there is no account ${owner}`)
  const signer = createWalletClient({
    account: privateKeyToAccount(key),
    chain: anvil,
    transport: http(rpcUrl, { timeout: HANGING_MS }),
  })
  const forward = (method: string, params: unknown) => signer.request({ method, params } as never)
  await forward('anvil_setCode', [address, batches ? SPLIT : EXECUTE])
  await forward('anvil_setBalance', [address, '0xde0b6b3a7640000'])
  // The state at the head, to which both were added, is not the one that its header proves.
  await forward('anvil_mine', ['0x1'])
  const asked: string[] = []

  // A node's gas estimate covers the call, not the calls that it makes in turn.
  const execute = (data: Hex) => signer.sendTransaction({ gas: 1_000_000n, to: address, data })
  const carryOut = ({ to, value = '0x0', data = '0x' }: Call) =>
    execute(`0x${word(to)}${word(BigInt(value))}${data.slice(2)}`)
  const pay = (calls: readonly Call[]) =>
    execute(splitTo(...calls.map(({ to, value = '0x0' }) => [to as Address, BigInt(value)] as const)))
  const answers: Record<string, (params: never) => unknown> = {
    wallet_sendCalls: async ([{ calls, atomicRequired }]: [{ calls: [Call]; atomicRequired: boolean }]) => {
      if (!speaks) throw notThere()
      if (atomicRequired && !batches) throw Object.assign(new Error('no atomicity here'), { code: 5760 })
      return { id: await (batches ? pay(calls) : carryOut(calls[0])) }
    },
    wallet_getCallsStatus: async ([id]: [Hex]) => {
      const receipt = (await forward('eth_getTransactionReceipt', [id])) as { status: Hex } | null
      const status = receipt === null ? 100 : receipt.status === '0x1' ? 200 : 500
      return { version: '2.0.0', id, chainId: '0x7a69', status, atomic: true, receipts: receipt ? [receipt] : [] }
    },
    eth_sendTransaction: async ([call]: [Call]) => {
      if (!sends) throw notThere()
      return carryOut(call)
    },
  }
  const request = async ({ method, params }: Request): Promise<unknown> => {
    asked.push(method)
    return answers[method]?.(params as never) ?? forward(method, params)
  }
  return { client: clientOf(address, request), asked }
}

const notThere = () => Object.assign(new Error('the method does not exist'), { code: -32601 })

const clientOf = (address: Hex, request: (asked: Request) => Promise<unknown>) =>
  createClient({ account: address, transport: custom({ request }, { retryCount: 0 }) })
