// Who may buy by an inner call, which is how a Safe and other contract wallets pay. That depends on the sale's mode as of a block, and on the
// contracts that the operator knows to belong to someone. After a change of either, the next payments pass judges waiting payments again.
import { readCursor } from '../../db/blocks/blocks.ts'
import { sumWaiting } from '../../db/operator/sums.ts'
import {
  allowContract,
  disallowContract,
  findAllowed,
  insertMode,
  lockModes,
  type ModeRow,
  readAllowedWallets,
  readModes,
} from '../../db/sale/contract-wallets.ts'
import type { NotedAddress } from '../../db/sale/noted-addresses.ts'
import { KNOWN_WALLETS_VERSION } from '../../domain/payers/known-wallets.ts'
import { CONTRACT_WALLET_MODES, type ContractWalletMode, modeAt } from '../../domain/payers/payer.ts'
import { inEther } from '../../domain/units.ts'
import type { ChainRead, LedgerDb } from '../../ports/contexts.ts'
import { type OperatorRefusal, refuseAct } from '../act.ts'
import { defineAct, defineGuardedAct, defineReading } from '../define-act.ts'
import { ANY_SUM } from '../guard.ts'
import * as field from '../input.ts'
import { newestOf } from './terms.ts'

/** The mode in force at the followed block, all modes entered so far, and what `proven` depends on. */
export interface ContractWalletsView {
  mode: ContractWalletMode
  modes: ModeRow[]
  allowed: NotedAddress[]
  knownWallets: number
}

/** The modes and allowed contracts, as of the followed block. */
export const listContractWallets = defineReading({
  path: 'contract-wallets',
  command: 'contract-wallets list',
  summary: 'list which contract wallets may buy: the mode, and the contracts you allow',
  examples: ['contract-wallets list'],
  fields: {},
  run: async ({ pool }: LedgerDb): Promise<ContractWalletsView> => {
    const [modes, cursor] = [await readModes(pool), await readCursor(pool)]
    const mode = modeAt(modes, cursor?.number ?? 0)
    return { mode, modes, allowed: await readAllowedWallets(pool), knownWallets: KNOWN_WALLETS_VERSION }
  },
})

/** A mode as entered. `changed` is false if the latest mode was the same. */
export interface ModeChange {
  mode: ContractWalletMode
  before: ContractWalletMode
  fromBlock: number
  changed: boolean
}

/**
 * The new mode is in force from the block after the newest that the ledger or any provider reports. We judge payments in earlier blocks by the mode
 * of their block. A waiting payment is judged by the new mode if that lets more wallets buy.
 */
export const setContractWallets = defineGuardedAct({
  path: 'contract-wallets',
  scope: 'terms',
  command: 'contract-wallets mode',
  summary: 'set which contract wallets may buy: hold, proven or all',
  details: `hold: none; the service holds each payment (contractWallet) for you. proven: a contract that has signed in, is a known wallet,
or is allowed by you. all: any contract. The mode applies from the next block on, and the service judges waiting payments again.`,
  examples: ['contract-wallets mode proven --reason "Safes may buy" --yes'],
  args: ['mode'],
  fields: {
    mode: field.word('hold, proven or all', CONTRACT_WALLET_MODES, { schema: 'ContractWalletMode' }),
    reason: field.REASON,
  },
  onChain: true,
  asks: 'Set this mode?',
  proposedAs: 'setContractWallets',
  sum: async (sql, { mode }) => {
    const rank = (one: ContractWalletMode) => CONTRACT_WALLET_MODES.indexOf(one)
    return rank(mode) > rank((await readModes(sql)).at(-1)?.mode ?? 'hold') ? ANY_SUM : 0n
  },
  change: async (
    { sql, actor, record },
    { mode },
    { chain }: LedgerDb & ChainRead,
  ): Promise<ModeChange | OperatorRefusal> => {
    await lockModes(sql)
    // The cursor is locked, so that no instance judges later blocks before the mode is stored.
    const newest = await newestOf('number', chain, await readCursor(sql, { lock: true }))
    if (newest === null)
      return refuseAct('unavailable', 'No provider answers, so we cannot tell from which block on it applies.')
    const latest = (await readModes(sql)).at(-1)
    const before = latest?.mode ?? 'hold'
    if (before === mode) return { mode, before, fromBlock: latest?.fromBlock ?? 0, changed: false }
    const fromBlock = Math.max(newest + 1, latest?.fromBlock ?? 0)
    await insertMode(sql, { mode, fromBlock }, actor.name)
    record({ action: 'contractWalletsSet', before, after: { mode, fromBlock } })
    return { mode, before, fromBlock, changed: true }
  },
  preview: ({ changed, before, mode, fromBlock }) =>
    changed
      ? `Mode ${before} -> ${mode} from block ${fromBlock} on. The next payments pass judges waiting payments again.`
      : `It is already ${mode}.`,
  says: ({ changed, mode, fromBlock }) =>
    changed ? `Entered: ${mode} from block ${fromBlock} on.` : `It is already ${mode}.`,
})

/** If the contract is already allowed, replaces its label and reason. */
export const allowContractWallet = defineGuardedAct({
  path: 'contract-wallets/allow',
  scope: 'decide',
  command: 'contract-wallets allow',
  summary: 'allow a contract to buy in the mode proven',
  examples: ['contract-wallets allow <address> --label "a fund" --reason "asked for it by letter" --yes'],
  args: ['address'],
  fields: {
    address: field.address('the contract'),
    label: field.text('whose wallet it is', { max: 64 }),
    reason: field.REASON_WANTED,
  },
  asks: 'Allow it?',
  proposedAs: 'allowContractWallet',
  // Payments of a contract that is already allowed do not wait for this act.
  sum: async (sql, { address }) =>
    (await findAllowed(sql, address)) ? 0n : sumWaiting(sql, address, 'contractWallet'),
  change: async ({ sql, actor, record }, { address, label, reason }) => {
    const before = await findAllowed(sql, address)
    const wallet = await allowContract(sql, { address, label, reason, addedBy: actor.name })
    record({ action: 'contractAllowed', subject: address, before, after: { label, reason } })
    return { wallet }
  },
  preview: async ({ wallet: { address, label } }, _request, sql) => {
    const waitingWei = await sumWaiting(sql, address, 'contractWallet')
    return `${address} (${label}) may buy in the mode proven. Its waiting payments, ${inEther(waitingWei)} ETH, are judged again.`
  },
  says: 'Allowed. The next payments pass judges its waiting payments again.',
})

export const disallowContractWallet = defineAct({
  path: 'contract-wallets/:address/disallow',
  scope: 'decide',
  command: 'contract-wallets disallow',
  summary: 'stop allowing a contract; its nodes stay',
  examples: ['contract-wallets disallow <address> --yes'],
  fields: { address: field.address('the contract'), reason: field.REASON },
  asks: 'Stop allowing it?',
  change: async ({ sql, record }, { address }) => {
    const before = await disallowContract(sql, address)
    if (!before) return refuseAct('notFound', 'That contract is not on the list.')
    record({ action: 'contractDisallowed', subject: address, before })
    return { address, disallowed: true as const }
  },
  preview: ({ address }) => `Later payments of ${address} are held in the mode proven. Its nodes stay.`,
  says: 'No longer allowed. Its nodes stay.',
})
