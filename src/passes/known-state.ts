// Answers readings of the block that was followed last from the snapshot that was taken of it, for the run that took it. Readings of any other
// block, and of what the snapshot lacks, are asked for as ever.
import type { AccountReader, StateSnapshot } from '../chain/port.ts'
import { wei } from '../domain/units.ts'
import type { AccountsRead, ChainRead, FactoryRead } from './context.ts'

/** The same parts, for one run. */
export function withSnapshot<Parts extends ChainRead & FactoryRead>(
  parts: Parts,
  snapshot: StateSnapshot | null,
): Parts {
  if (!snapshot) return parts
  const { chain, contract } = parts
  const { at, balances, figures, storageRoot } = snapshot
  const figuresAt = (block: number) => (block === at.number ? figures : null)
  return {
    ...parts,
    chain: {
      ...chain,
      balanceAt: async (owner, block) =>
        (block.hash === at.hash ? balances.get(owner) : undefined) ?? (await chain.balanceAt(owner, block)),
    },
    contract: {
      ...contract,
      counters: async (block) => figuresAt(block)?.counters ?? (await contract.counters(block)),
      budget: async (block) => figuresAt(block)?.budget ?? (await contract.budget(block)),
      bounds: async (block) => figuresAt(block)?.bounds ?? (await contract.bounds(block)),
      storageRoot: async (hash) => (hash === at.hash ? storageRoot : undefined) ?? (await contract.storageRoot(hash)),
    },
  }
}

/** The accounts, whose balances are those of the snapshot: for looking at funds, not for spending them. */
export function accountsAt({ minter, distributor }: AccountsRead, snapshot: StateSnapshot | null): AccountsRead {
  const known = (account: AccountReader | null): AccountReader | null => {
    const balanceWei = account ? snapshot?.balances.get(account.address) : undefined
    return account && balanceWei !== undefined ? { ...account, balance: async () => wei(balanceWei) } : account
  }
  return { minter: known(minter), distributor: known(distributor) }
}
