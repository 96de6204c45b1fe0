// Contracts that pay the wallet in the simulation, on either chain: deployed, except for the account that delegates to a forwarder's code.
import { getContractAddress, pad } from 'viem'
import { KNOWN_IMPLEMENTATIONS } from '../../../src/domain/payers/known-wallets.ts'
import { type Address, address, ZERO_ADDRESS } from '../../../src/domain/units.ts'
import type { Hex, TestChain } from '../../support/anvil.ts'
import { FORWARD, SPLIT } from '../../support/forwarder.ts'
import { creationOf, endingCode, IMPLEMENTATION_SLOT, PROXY } from '../model/contracts.ts'

/** The account that deploys them, and the one that delegates: neither buys by a plain transfer. */
const DEPLOYER = 10
const DELEGATING = 16
const PAYMENTS_WALLET = 3

export interface Payers {
  /** Forwards ether to the address in its calldata, and so does another one. */
  forwarder: Address
  other: Address
  /** Pays several addresses at once. */
  splitter: Address
  /** Destroys itself into the payments wallet, and exists again in the next transaction. */
  ending: Address
  /** A key's account with the forwarder's code (EIP-7702). */
  delegating: Address
  /** A proxy and an implementation of the versioned list of known wallets, with the forwarder's code. */
  known: Address
}

/** Deploys them in one block. */
export async function deployPayers(chain: TestChain): Promise<Payers> {
  const at = (account: number) => address(chain.accounts[account]?.address ?? '')
  const forwarderAt = getContractAddress({ from: at(DEPLOYER), nonce: 0n }).toLowerCase()
  // A changed state counts from the next block on, so a reorganisation to this one keeps it.
  await chain.rpc('anvil_setCode', [at(DELEGATING), `0xef0100${forwarderAt.slice(2)}`])
  await putKnownWallet(chain)
  const sent: Hex[] = []
  for (const code of [FORWARD, FORWARD, SPLIT, endingCode(at(PAYMENTS_WALLET))])
    sent.push(await chain.send({ from: at(DEPLOYER), data: creationOf(code as Hex), gas: '0x100000' }))
  await chain.mine()
  const created = await Promise.all(
    sent.map(async (hash) => {
      const receipt = await chain.rpc<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])
      return address(receipt.contractAddress)
    }),
  )
  const [forwarder, other, splitter, ending] = created as [Address, Address, Address, Address]
  return { forwarder, other, splitter, ending, delegating: at(DELEGATING), known: KNOWN }
}

const KNOWN = `0x${'c5'.repeat(20)}` as Address

async function putKnownWallet(chain: TestChain): Promise<void> {
  const implementation = KNOWN_IMPLEMENTATIONS.find(({ name }) => name === 'Kernel')?.address ?? ZERO_ADDRESS
  await chain.rpc('anvil_setCode', [implementation, FORWARD])
  await chain.rpc('anvil_setCode', [KNOWN, PROXY])
  await chain.rpc('anvil_setStorageAt', [KNOWN, IMPLEMENTATION_SLOT, pad(implementation)])
}
