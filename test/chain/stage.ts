// A chain with the factory on it, and what a test of the chain side needs to act on both: calls by owners, minters and
// others, mined when the test says so.
import { type Abi, decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem'
import { factoryAbi } from '../../src/chain/factory/abi.ts'
import { deployDemoToken, deployFactory } from '../../src/chain/factory/deploy.ts'
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts'
import { localSigner } from '../../src/chain/send/signer.ts'
import { createSignerAccount } from '../../src/chain/send/signer-account.ts'
import { type Address, address, type Hash } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { WatchedAddresses } from '../../src/ports/chain.ts'
import type { FactoryCall, SignerAccount } from '../../src/ports/sending.ts'
import { startTestChain, type TestChain, whileMining } from '../support/anvil.ts'
import { namingPresent, ROOMY_SETUP } from '../support/factory.ts'
import { type FalseProvider, startFalseProvider } from './false-provider.ts'

/** Acts of the factory's owner and the nodes' owners; the service's own ABI has none of them. */
const ownersAbi = parseAbi([
  'function withdraw(uint256 id, address to, uint256 amount)',
  'function withdrawAll(uint256[] ids, address to)',
  'function transferFrom(address from, address to, uint256 id)',
  'function setInterval(uint256 cohort, uint256 interval)',
  'function setDistributor(address newDistributor, address former, uint256 floorGwei, uint256 ceilingGwei)',
  'function expel(bytes32[] refs)',
  'function capTier(uint256 tier, uint256 most)',
  'function setMinter(address newMinter, address former, uint256 nodes, uint256 cohorts)',
  'function addNotOwed(uint256 window, uint256 from, uint256 until)',
  'function setSwapsAllowance(address distributor, uint256 allowance, uint256 former)',
  'function pause()',
  'function unpause()',
])

export interface Stage {
  chain: TestChain
  rpc: Rpc
  factory: Address
  token: Address
  minter: SignerAccount
  distributor: SignerAccount
  watched: WatchedAddresses
  /** Lower-case address of an account: 0 owner, 1 minter, 2 distributor, 3 payments wallet, 5.. buyers. */
  at(account: number): Address
  keyOf(account: number): `0x${string}`
  /** A separate client behind a provider that a test can make lie. By default it waits two seconds for a reply. */
  behind(timeoutMs?: number): Promise<{ rpc: Rpc; provider: FalseProvider }>
  /** Sends an owner's call; it is mined with the next block, even if it reverts. */
  act(account: number, name: string, args: readonly unknown[], to?: Address): Promise<Hash>
  pay(account: number, valueWei: bigint): Promise<Hash>
  /** Signs, sends and mines a call of one of our signer accounts. Fails the test if the estimate fails. */
  send(sender: SignerAccount, call: FactoryCall): Promise<Hash>
  head(): Promise<{ number: number; hash: Hash; time: number }>
  close(): Promise<void>
}

/** Reads the factory. */
const readerOf =
  (chain: TestChain, factory: Address) =>
  async <T>(functionName: string, args: readonly unknown[] = []): Promise<T> => {
    const data = encodeFunctionData({ abi: factoryAbi as Abi, functionName, args })
    const answer = (await chain.rpc('eth_call', [{ to: factory, data }, 'latest'])) as `0x${string}`
    return decodeFunctionResult({ abi: factoryAbi as Abi, functionName, data: answer }) as T
  }

/** Starts one; under a second. */
export async function startStage(): Promise<Stage> {
  const chain = await startTestChain()
  const at = (account: number) => address(chain.accounts[account]?.address ?? '')
  const keyOf = (account: number) => chain.accounts[account]?.privateKey ?? '0x'
  const rpc = createRpc({ urls: [chain.rpcUrl], log: silentLog })
  const opened: { close(): Promise<void> }[] = [rpc]

  const roles = { owner: at(0), minter: at(1), distributor: at(2), maxPerWallet: 3 }
  const options = { rpcUrl: chain.rpcUrl, ...roles, ...ROOMY_SETUP }
  const [{ address: factory }, { address: token }] = await whileMining(chain, () =>
    Promise.all([
      deployFactory({ ...options, privateKey: keyOf(0) }),
      deployDemoToken({ rpcUrl: chain.rpcUrl, privateKey: keyOf(4) }),
    ]),
  )

  const sender = (account: number) =>
    createSignerAccount({ rpc, signer: localSigner(keyOf(account)), chainId: chain.chainId, factory })
  const [minter, distributor] = [sender(1), sender(2)]
  return {
    chain,
    rpc,
    factory,
    token,
    minter,
    distributor,
    watched: { factory, wallets: [{ wallet: at(3), watchedFrom: 0, closedBlock: null }], signers: [at(1), at(2)] },
    at,
    keyOf,
    async behind(timeoutMs = 2_000) {
      const provider = await startFalseProvider(chain.rpcUrl)
      const own = createRpc({ urls: [provider.url], log: silentLog, timeoutMs })
      opened.push(own, provider)
      return { rpc: own, provider }
    },
    async act(account, functionName, given, to = factory) {
      const args = await namingPresent(readerOf(chain, factory), functionName, given)
      const data = encodeFunctionData({ abi: [...ownersAbi, ...factoryAbi] as Abi, functionName, args })
      return (await chain.send({ from: at(account), to, data, gas: '0x80000' })) as Hash
    },
    async pay(account, valueWei) {
      return (await chain.send({ from: at(account), to: at(3), value: `0x${valueWei.toString(16)}` })) as Hash
    },
    async send(by, call) {
      const estimate = await by.estimate(call)
      if (estimate.kind !== 'ok') throw new Error(`${call.kind}: ${JSON.stringify(estimate)}`)
      const tx = await by.sign(call, { nonce: await by.nonce(), gasLimit: estimate.gas, fees: await by.fees() })
      const outcome = await by.broadcast(tx.raw)
      if (outcome.kind !== 'accepted') throw new Error(JSON.stringify(outcome))
      await chain.mine()
      return tx.txHash
    },
    async head() {
      const block = await chain.block()
      return { number: Number(block.number), hash: block.hash as Hash, time: Number(block.timestamp) }
    },
    async close() {
      for (const part of opened) await part.close()
      await chain.stop()
    },
  }
}
