// What owners do with a wallet: sign in, withdraw, decline gifts. Keys stay in the wallet, and the wallet sends every
// transaction.
import { encodeFunctionData, parseEventLogs, type TransactionReceipt } from 'viem'
import { readContract, signMessage, simulateContract } from 'viem/actions'
import type { LedgerClient, NodeId } from '../client.ts'
import type { Hex } from '../types.ts'
import { explained, type WalletCall, WalletError } from './errors.ts'
import { factoryAbi } from './factory.ts'
import { receiptOf } from './receipt.ts'
import { type OwnWallet, requireChain, sendCall } from './send.ts'

/** Signs in: fetches the text, has the wallet sign it, sends the signature. Costs no gas and authorizes no transaction. */
export async function signIn(ledger: LedgerClient, wallet: OwnWallet): Promise<Hex> {
  const { account } = wallet
  const { message } = await ledger.getNonce(account.address)
  const signature = await explained(() => signMessage(wallet, { account, message }))
  const { address } = await ledger.verifySignature({ address: account.address, signature })
  return address
}

export interface SendOptions {
  /** Called just before the wallet prompts. Any error after that does not show whether the wallet has sent, unless it is a WalletError. */
  onAsk?: () => void
  /** Called once the transaction is sent. */
  onSent?: (txHash: Hex) => void
  /** Called once a contract wallet has accepted the call. Its other signers, if any, must agree before it is sent. */
  onProposed?: (callsId: string) => void
}

export interface WithdrawOptions extends SendOptions {
  /** The receiver of the ether. Default: the wallet itself. */
  to?: Hex
}

export interface Withdrawn {
  txHash: Hex
  blockNumber: bigint
  /** The contract's payouts from its events, one for each node. */
  payouts: Payout[]
}

export interface Payout {
  nodeId: string
  to: Hex
  amountWei: bigint
}

/** Has the contract and the chain. May be a client of the service, or a saved answer, so that a withdrawal needs no service. */
export type Directory = Pick<LedgerClient, 'getWellKnown'>

/**
 * Withdraws an amount from one node. Simulates it first: if the contract would revert, this throws a WalletError with the reason in words before the
 * wallet prompts. Resolves once the transaction is in a block.
 */
export async function withdraw(
  ledger: Directory,
  wallet: OwnWallet,
  nodeId: NodeId,
  amountWei: bigint,
  options: WithdrawOptions = {},
): Promise<Withdrawn> {
  return pay(ledger, wallet, { nodeIds: [nodeId], amountWei }, options)
}

/** Withdraws everything that the given nodes hold, in one transaction; otherwise like {@link withdraw}. */
export async function withdrawAll(
  ledger: Directory,
  wallet: OwnWallet,
  nodeIds: readonly NodeId[],
  options: WithdrawOptions = {},
): Promise<Withdrawn> {
  return pay(ledger, wallet, { nodeIds, amountWei: null }, options)
}

/** True if the wallet declines nodes that others send to it. */
export async function declinesGifts(ledger: Directory, wallet: OwnWallet): Promise<boolean> {
  const { address } = await factoryOf(ledger)
  const args = [wallet.account.address] as const
  return readContract(wallet, { address, abi: factoryAbi, functionName: 'declinesGifts', args })
}

/**
 * Has the wallet decline nodes that others send to it, or accept them again. While it declines, it cannot receive a
 * node that it bought on a market, because the market makes the transfer. Nodes bought from the ledger still arrive.
 * Resolves once the transaction is in a block.
 */
export async function declineGifts(
  ledger: Directory,
  wallet: OwnWallet,
  declines: boolean,
  options: SendOptions = {},
): Promise<{ txHash: Hex; blockNumber: bigint }> {
  const { receipt } = await send(ledger, wallet, { functionName: 'declineGifts', args: [declines] }, options)
  return { txHash: receipt.transactionHash, blockNumber: receipt.blockNumber }
}

/** An amount to withdraw from one node, or the nodes from which to withdraw everything (`null`). */
export interface WithdrawalRequest {
  nodeIds: readonly NodeId[]
  amountWei: bigint | null
}

/** The withdrawal call, for an owner whose wallet cannot be reached by a program. Only the owner can make it. */
export function withdrawalCall(ledger: Directory, withdrawal: WithdrawalRequest, to: Hex): Promise<WalletCall> {
  return callOf(ledger, functionOf(withdrawal, to))
}

type FactoryCall = ReturnType<typeof functionOf> | { functionName: 'declineGifts'; args: readonly [boolean] }

async function factoryOf(ledger: Directory): Promise<{ chainId: number; address: Hex }> {
  const { chainId, factoryAddress } = await ledger.getWellKnown()
  if (factoryAddress === null) throw new WalletError('notDeployed', 'The service has no contract.')
  return { chainId, address: factoryAddress }
}

async function callOf(ledger: Directory, factoryCall: FactoryCall): Promise<WalletCall> {
  const { chainId, address } = await factoryOf(ledger)
  return { chainId, to: address, valueWei: 0n, data: encodeFunctionData({ abi: factoryAbi, ...factoryCall } as never) }
}

function functionOf({ nodeIds, amountWei }: WithdrawalRequest, to: Hex) {
  const ids = nodeIds.map((id) => BigInt(id))
  return amountWei === null
    ? ({ functionName: 'withdrawAll', args: [ids, to] } as const)
    : ({ functionName: 'withdraw', args: [ids[0] ?? 0n, to, amountWei] } as const)
}

async function pay(
  ledger: Directory,
  wallet: OwnWallet,
  withdrawal: WithdrawalRequest,
  options: WithdrawOptions,
): Promise<Withdrawn> {
  const factoryCall = functionOf(withdrawal, options.to ?? wallet.account.address)
  const { receipt, factory } = await send(ledger, wallet, factoryCall, options)
  return { txHash: receipt.transactionHash, blockNumber: receipt.blockNumber, payouts: payoutsIn(receipt, factory) }
}

async function send(
  ledger: Directory,
  wallet: OwnWallet,
  factoryCall: FactoryCall,
  options: SendOptions,
): Promise<{ receipt: TransactionReceipt; factory: Hex }> {
  const { account } = wallet
  const call = await callOf(ledger, factoryCall)
  await requireChain(wallet, call.chainId)
  // The two functions take different arguments; `factoryCall` passes each its own.
  const simulation = { address: call.to, abi: factoryAbi, account, chain: null, ...factoryCall } as never
  await explained(() => simulateContract(wallet, simulation))
  const txHash = await explained(() => sendCall(wallet, call, options))
  options.onSent?.(txHash)
  const receipt = await receiptOf(wallet, txHash)
  if (receipt.status !== 'success')
    throw new WalletError(
      'reverted',
      'The contract accepted the simulated call, but the transaction failed. Nothing moved.',
      {
        txHash,
      },
    )
  return { receipt, factory: call.to }
}

function payoutsIn({ logs }: TransactionReceipt, factory: Hex): Payout[] {
  const own = logs.filter(({ address }) => address.toLowerCase() === factory.toLowerCase())
  return parseEventLogs({ abi: factoryAbi, eventName: 'Withdrawn', logs: own }).map(({ args }) => ({
    nodeId: String(args.nodeId),
    to: args.to,
    amountWei: args.amount,
  }))
}
