// The soak's acts from the edges: floods of junk, transactions of ours that are cancelled by hand, and the operator's decisions, with blocks
// taken back right after them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, Hash } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { dismissPayment, releasePayment } from '../../src/operator/decide.ts'
import type { Dice } from '../support/faults/dice.ts'
import type { World } from '../support/world.ts'

const JUNK_MIN = 20
const JUNK_MAX = 60
/** Accounts that nothing else is bought with; one in ten is a buyer's, since order matters within a wallet. */
const JUNK_SENDERS = [4, 0]
/** Something is on its way soon, where anything is sold. */
const LOOKS_MAX = 40
const LOOK_MS = 100
const GWEI = 10n ** 9n
const hex = (value: number | bigint) => `0x${value.toString(16)}` as const

/** Sends transfers of 0 and 1 wei to the payments wallet. @returns how many. */
export async function sendJunk(world: World, dice: Dice, buyers: readonly number[]): Promise<number> {
  const many = dice.between('junk', JUNK_MIN, JUNK_MAX)
  for (let i = 0; i < many; i++) {
    const from = dice.pick('junk sender', dice.roll('from a buyer') < 0.1 ? buyers : JUNK_SENDERS)
    await world.pay(from, dice.pick('junk wei', [0n, 1n]))
  }
  return many
}

/** Uses the nonce of a transaction of ours that is on its way for nothing. @returns its hash; null where none is on its way. */
export async function cancelByHand({ chain, pool }: World, dice: Dice): Promise<Hash | null> {
  const readPending = () => pool<{ sender: Address; nonce: number }[]>`
    SELECT sender, nonce FROM outbox WHERE state = 'pending' ORDER BY id`
  let pending = await readPending()
  for (let look = 0; look < LOOKS_MAX && pending.length === 0; look++) {
    await sleep(LOOK_MS)
    pending = await readPending()
  }
  if (pending.length === 0) return null
  const { sender, nonce } = dice.pick('cancelled', pending)
  const fees = { maxFeePerGas: hex(2_000n * GWEI), maxPriorityFeePerGas: hex(100n * GWEI) }
  const cancelling = { from: sender, to: sender, value: hex(0), nonce: hex(nonce), gas: hex(21_000), ...fees }
  // It may have been mined a moment ago.
  return await chain.send(cancelling as never).catch(() => null)
}

/** The operator releases or dismisses a held payment of another amount than `but`. @returns whether one was decided. */
export async function decideOne({ pool }: World, dice: Dice, but: bigint): Promise<boolean> {
  const held = await pool<{ id: number }[]>`
    SELECT id FROM payments WHERE state = 'held' AND value_wei <> ${but.toString()} ORDER BY id`
  if (held.length === 0) return false
  const actor = { name: 'operator', requestId: null }
  const { id: payment } = dice.pick('decided', held)
  if (dice.roll('released') < 0.5) return !isOperatorRefusal(await dismissPayment({ pool }, actor, { payment }))
  const outcome = await releasePayment({ pool }, actor, { payment })
  if (!isOperatorRefusal(outcome)) return true
  // The operator names the tier where the amount names none.
  return (
    outcome.because === 'invalid' &&
    !isOperatorRefusal(await releasePayment({ pool }, actor, { payment, tierId: 'bulk' }))
  )
}
