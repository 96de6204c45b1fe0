// Measures the gas to pay a node with the contracts of bench/peers/contracts, on the bench's own chain.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { encodeFunctionData, parseAbi } from 'viem'
import type { Hex, TestChain } from '../../test/support/anvil.ts'

const SOURCE = 'Peers.sol'
/** Nodes paid in one transaction. Even the first one fits into a block, though it finds accounts and slots empty. */
const NODES = 400
const AMOUNT_WEI = 1_234_567_890_123_456n
const abi = parseAbi([
  'function disperseEther(address[] recipients, uint256[] values) payable',
  'function credit(uint256 firstId, uint256 count, uint256 amount) payable',
])

interface Solc {
  compile(input: string): string
}
interface Output {
  contracts?: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>
}

/** Gas per node of both, once accounts and slots exist, because the first payment costs more. */
export async function peerGas(chain: TestChain): Promise<{ disperse: number; perNode: number }> {
  const recipients = Array.from(
    { length: NODES },
    (_, index) => `0x${(index + 1).toString(16).padStart(40, 'd')}` as const,
  )
  const disperse = encodeFunctionData({
    abi,
    functionName: 'disperseEther',
    args: [recipients, recipients.map(() => AMOUNT_WEI)],
  })
  const credit = encodeFunctionData({ abi, functionName: 'credit', args: [1n, BigInt(NODES), AMOUNT_WEI] })
  return { disperse: await secondGas(chain, 'Disperse', disperse), perNode: await secondGas(chain, 'PerNode', credit) }
}

/** Deploys the contract and makes the call twice. @returns the gas per node of the second call. */
async function secondGas(chain: TestChain, contract: string, data: Hex): Promise<number> {
  const { contractAddress } = await mined(chain, { data: compile(contract) })
  const to = contractAddress ?? ''
  const value = `0x${(BigInt(NODES) * AMOUNT_WEI).toString(16)}` as const
  await mined(chain, { to, data, value })
  const { gasUsed } = await mined(chain, { to, data, value })
  return Number(gasUsed) / NODES
}

async function mined(chain: TestChain, call: { to?: string; data: Hex; value?: Hex }) {
  const from = chain.accounts[0]?.address ?? ''
  const hash = await chain.send({ from, gas: '0xf00000', ...call })
  await chain.mine()
  type Receipt = { status: string; gasUsed: string; contractAddress: string | null }
  const receipt = await chain.rpc<Receipt>('eth_getTransactionReceipt', [hash])
  if (receipt.status !== '0x1') throw new Error(`a call of ${call.to ?? 'a deployment'} failed`)
  return receipt
}

function compile(contract: string): Hex {
  const solc = createRequire(import.meta.url)('solc') as Solc
  const content = readFileSync(new URL(`../peers/contracts/${SOURCE}`, import.meta.url), 'utf8')
  const input = {
    language: 'Solidity',
    sources: { [SOURCE]: { content } },
    settings: {
      optimizer: { enabled: true, runs: 10_000 },
      outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output
  const object = output.contracts?.[SOURCE]?.[contract]?.evm.bytecode.object
  if (object === undefined) throw new Error(`solc compiled no ${contract}`)
  return `0x${object}`
}
