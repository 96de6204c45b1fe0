// The bench passes its settings through the environment (bench/lib/peers.ts).
import { createConfig } from 'ponder'
import { factoryEvents } from './abi'

const { PONDER_RPC_URLS = '', CHAIN_ID, FACTORY, PAYMENTS_WALLET, END_BLOCK } = process.env
/** Without a last block it follows the chain. */
const blocks = { chain: 'recorded', startBlock: 1, ...(END_BLOCK && { endBlock: Number(END_BLOCK) }) } as const

export default createConfig({
  chains: { recorded: { id: Number(CHAIN_ID), rpc: PONDER_RPC_URLS.split(',') } },
  accounts: { PaymentsWallet: { ...blocks, address: PAYMENTS_WALLET as `0x${string}` } },
  contracts: { NodeFactory: { ...blocks, abi: factoryEvents, address: FACTORY as `0x${string}` } },
})
