// ERC-4337 accounts on a test chain: the EntryPoint 0.8, SimpleAccount with its factory, and Simple7702Account, from their authors' published
// bytecode (npm @account-abstraction/contracts). Real keys sign the operations. The bundler is an account of the test.
import assert from 'node:assert/strict'
import { decodeEventLog, decodeFunctionResult, encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem'
import {
  entryPoint08Abi,
  entryPoint08Address,
  getUserOperationTypedData,
  toPackedUserOperation,
  type UserOperation,
} from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { type Address, address } from '../../../src/domain/units.ts'
import type { Hex, TestChain } from '../anvil.ts'
import { authorize, carry } from '../authorizations.ts'
import { artifact, type Mined, mined } from './deploy.ts'

const PACKAGE = '@account-abstraction/contracts/artifacts'
const ENTRY_POINT = address(entryPoint08Address)
const factoryAbi = parseAbi([
  'function createAccount(address owner, uint256 salt) returns (address)',
  'function getAddress(address owner, uint256 salt) view returns (address)',
])
const accountAbi = parseAbi(['function execute(address target, uint256 value, bytes data)'])
/** Above any base fee of a short test. */
const FEES = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n }
const GAS = { callGasLimit: 400_000n, verificationGasLimit: 700_000n, preVerificationGas: 60_000n }

type Operation = UserOperation<'0.8'>

/** A call that an account is to make. */
export interface Wanted {
  to: Address
  valueWei?: bigint
  data?: Hex
}

/** An account that the EntryPoint calls if its owner has signed. */
export interface OperatedAccount {
  address: Address
  /** The signed operation for one call. If the account does not exist yet, the operation also creates it. */
  sign(wanted: Wanted): Promise<Operation>
}

/** The EntryPoint at its published address, with accounts. */
export interface EntryPoint {
  /** The SimpleAccount of an owner, with some ether. It does not exist until its first operation. */
  simpleAccount(owner: number, valueWei: bigint): Promise<OperatedAccount>
  /** An owner's own account, which delegates to the code of Simple7702Account by an authorization in another account's transaction. */
  delegatedAccount(owner: number): Promise<OperatedAccount>
  /** Makes a bundler execute operations in one mined transaction. If one of them fails, the test fails. */
  bundle(bundler: number, operations: readonly Operation[]): Promise<Mined>
}

/** Puts the EntryPoint and the accounts' contracts on a chain. */
export async function putEntryPoint(chain: TestChain): Promise<EntryPoint> {
  const deployer = accountOf(chain, 9).address
  await construct(chain, ENTRY_POINT, artifact(`${PACKAGE}/EntryPoint.json`).bytecode)
  const argument = encodeAbiParameters([{ type: 'address' }], [ENTRY_POINT]).slice(2)
  const deploy = async (name: string, data = '') => {
    const { bytecode } = artifact(`${PACKAGE}/${name}.json`)
    return (await mined(chain, { from: deployer, data: `${bytecode}${data}` as Hex })).created
  }
  const [factory, delegate] = [await deploy('SimpleAccountFactory', argument), await deploy('Simple7702Account')]
  return {
    async simpleAccount(owner, valueWei) {
      const args = [accountOf(chain, owner).address, 0n] as const
      const data = encodeFunctionData({ abi: factoryAbi, functionName: 'getAddress', args })
      const answer = await chain.rpc<Hex>('eth_call', [{ to: factory, data }, 'latest'])
      const sender = address(`0x${answer.slice(-40)}`)
      await mined(chain, { from: deployer, to: sender, value: `0x${valueWei.toString(16)}` })
      const factoryData = encodeFunctionData({ abi: factoryAbi, functionName: 'createAccount', args })
      const making = async () => ((await codeOf(chain, sender)) === '0x' ? { factory, factoryData } : {})
      return { address: sender, sign: async (wanted) => sign(chain, { sender, owner, ...(await making()) }, wanted) }
    },
    async delegatedAccount(owner) {
      const sender = address(accountOf(chain, owner).address)
      const nonce = Number(await chain.rpc<Hex>('eth_getTransactionCount', [sender, 'latest']))
      await carry({ chain }, 9, [await authorize({ chain }, owner, { nonce, to: delegate })])
      assert.equal(await codeOf(chain, sender), `0xef0100${delegate.slice(2)}`)
      return { address: sender, sign: (wanted) => sign(chain, { sender, owner }, wanted) }
    },
    async bundle(bundler, operations) {
      const from = accountOf(chain, bundler).address
      const packed = operations.map((operation) => toPackedUserOperation(operation))
      const data = encodeFunctionData({ abi: entryPoint08Abi, functionName: 'handleOps', args: [packed, from] })
      const done = await mined(chain, { from, to: ENTRY_POINT, data })
      assert.deepEqual(
        done.logs.flatMap((log) => outcomeOf(log)),
        operations.map(() => true),
        'every operation went through',
      )
      return done
    },
  }
}

/** Runs a constructor at an address of our choice, as if deployed there: its effects and its code remain. */
async function construct(chain: TestChain, at: Address, bytecode: Hex): Promise<void> {
  await chain.rpc('anvil_setCode', [at, bytecode])
  const code = await chain.rpc<Hex>('eth_call', [{ to: at }, 'latest'])
  await mined(chain, { from: accountOf(chain, 9).address, to: at })
  await chain.rpc('anvil_setCode', [at, code])
}

async function sign(
  chain: TestChain,
  { owner, ...made }: { sender: Address; owner: number; factory?: Address; factoryData?: Hex },
  { to, valueWei = 0n, data = '0x' }: Wanted,
): Promise<Operation> {
  const ask = encodeFunctionData({ abi: entryPoint08Abi, functionName: 'getNonce', args: [made.sender, 0n] })
  const answer = await chain.rpc<Hex>('eth_call', [{ to: ENTRY_POINT, data: ask }, 'latest'])
  const nonce = decodeFunctionResult({ abi: entryPoint08Abi, functionName: 'getNonce', data: answer })
  const callData = encodeFunctionData({ abi: accountAbi, functionName: 'execute', args: [to, valueWei, data] })
  const unsigned = { ...made, nonce, callData, ...GAS, ...FEES, signature: '0x' } as Operation
  const typed = getUserOperationTypedData({
    chainId: chain.chainId,
    entryPointAddress: ENTRY_POINT,
    userOperation: unsigned,
  })
  const signature = await privateKeyToAccount(accountOf(chain, owner).privateKey).signTypedData(typed)
  return { ...unsigned, signature }
}

/** The EntryPoint's outcome for an operation; empty for any other log. */
function outcomeOf(log: Mined['logs'][number]): boolean[] {
  if (log.address.toLowerCase() !== ENTRY_POINT) return []
  const { eventName, args } = decodeEventLog({ abi: entryPoint08Abi, ...log })
  return eventName === 'UserOperationEvent' ? [args.success] : []
}

const codeOf = (chain: TestChain, of: Address) => chain.rpc<Hex>('eth_getCode', [of, 'latest'])

function accountOf({ accounts }: TestChain, index: number) {
  return accounts[index] ?? assert.fail(`there is no account ${index}`)
}
