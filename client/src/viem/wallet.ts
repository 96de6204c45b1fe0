// Acts of owners and buyers with a wallet: sign in, buy, withdraw. Keys stay in the wallet, and every transaction is the
// wallet's own.
import { encodeFunctionData } from 'viem'
import { getChainId, signMessage, simulateContract, waitForTransactionReceipt } from 'viem/actions'
import type { LedgerClient, NodeId } from '../client.ts'
import { type FollowedPayment, type FollowOptions, followPayment } from '../follow.ts'
import type { Hex, Quote } from '../types.ts'
import { explained, WalletError } from './errors.ts'
import { factoryAbi } from './factory.ts'
import { isContract, type OwnWallet, sendCall } from './send.ts'

/** Signs in: asks for the text, has the wallet sign it, sends the signature. Costs no gas and permits nothing. */
export async function signIn(ledger: LedgerClient, wallet: OwnWallet): Promise<Hex> {
  const { account } = wallet
  const { message } = await ledger.getNonce(account.address)
  const signature = await explained(() => signMessage(wallet, { account, message }))
  const { address } = await ledger.verifySignature({ address: account.address, signature })
  return address
}

export interface BuyOptions extends FollowOptions {
  /** Called with the quote before the wallet is asked, and with the hash once the transfer is sent: keep it. */
  onQuote?: (quote: Quote) => void
  onSent?: (txHash: Hex) => void
}

/**
 * Buys a node: quotes the tier, sends the transfer, reports it and follows it to the node. Throws a WalletError where
 * nothing was sent. After `onSent` was called, the payment proceeds even if this throws: use `followPayment` with its hash.
 */
export async function buy(
  ledger: LedgerClient,
  wallet: OwnWallet,
  tierId?: string,
  options: BuyOptions = {},
): Promise<FollowedPayment & { txHash: Hex }> {
  const quote = await ledger.getDeployQuote(tierId, options.signal ? { signal: options.signal } : {})
  options.onQuote?.(quote)
  await requireChain(wallet, quote.chainId)
  await refuseContractWallet(wallet, quote)
  const txHash = await explained(() =>
    sendCall(wallet, { chainId: quote.chainId, to: quote.paymentAddress, valueWei: quote.priceWei }),
  )
  options.onSent?.(txHash)
  return { txHash, ...(await followPayment(ledger, txHash, options)) }
}

export interface WithdrawOptions {
  /** The receiver of the ether; by default the wallet itself. */
  to?: Hex
  /** Called once the transaction is sent. */
  onSent?: (txHash: Hex) => void
}

export interface Withdrawn {
  txHash: Hex
  blockNumber: bigint
}

/**
 * Withdraws an amount from one node. Simulated first: what the contract would refuse is thrown as a WalletError in words
 * before the wallet is asked. Resolves once the transaction is in a block.
 */
export async function withdraw(
  ledger: LedgerClient,
  wallet: OwnWallet,
  nodeId: NodeId,
  amountWei: bigint,
  options: WithdrawOptions = {},
): Promise<Withdrawn> {
  const to = options.to ?? wallet.account.address
  return send(ledger, wallet, 'withdraw', [BigInt(nodeId), to, amountWei], options)
}

/** Withdraws everything that the given nodes hold, in one transaction; otherwise as {@link withdraw}. */
export async function withdrawAll(
  ledger: LedgerClient,
  wallet: OwnWallet,
  nodeIds: readonly NodeId[],
  options: WithdrawOptions = {},
): Promise<Withdrawn> {
  const to = options.to ?? wallet.account.address
  return send(ledger, wallet, 'withdrawAll', [nodeIds.map((id) => BigInt(id)), to], options)
}

async function send(
  ledger: LedgerClient,
  wallet: OwnWallet,
  functionName: 'withdraw' | 'withdrawAll',
  args: readonly [bigint, Hex, bigint] | readonly [readonly bigint[], Hex],
  options: WithdrawOptions,
): Promise<Withdrawn> {
  const { chainId, factoryAddress } = await ledger.getWellKnown()
  if (factoryAddress === null) throw new WalletError('notDeployed', 'The service names no contract.')
  await requireChain(wallet, chainId)
  // The two functions differ in their arguments, which the pair of types above keeps together.
  const call = {
    address: factoryAddress,
    abi: factoryAbi,
    functionName,
    args,
    account: wallet.account,
    chain: null,
  } as never
  await explained(() => simulateContract(wallet, call))
  const data = encodeFunctionData({ abi: factoryAbi, functionName, args } as never)
  const txHash = await explained(() => sendCall(wallet, { chainId, to: factoryAddress, data }))
  options.onSent?.(txHash)
  const receipt = await waitForTransactionReceipt(wallet, { hash: txHash })
  if (receipt.status !== 'success')
    throw new WalletError('reverted', 'The contract refused in the block, although not before. Nothing moved.', {
      txHash,
    })
  return { txHash: receipt.transactionHash, blockNumber: receipt.blockNumber }
}

async function requireChain(wallet: OwnWallet, chainId: number): Promise<void> {
  const at = await getChainId(wallet)
  if (at !== chainId)
    throw new WalletError(
      'wrongChain',
      `The wallet is on chain ${at}; this ledger is on chain ${chainId}. Switch, then try again.`,
    )
}

/** Throws for a contract wallet where the ledger would hold its payment for review. */
async function refuseContractWallet(wallet: OwnWallet, { contractWallets }: Quote): Promise<void> {
  if (contractWallets === 'all' || contractWallets === 'proven' || !(await isContract(wallet))) return
  const why =
    'This is a contract wallet. Its ether would arrive by an internal call, which the ledger holds for review.'
  throw new WalletError('contractWallet', `${why} Pay from an ordinary account.`)
}
