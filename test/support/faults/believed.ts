// What rests on one provider's word, before a test compares a ledger at rest.
import { readBelievedBlock } from '../../../src/db/payments/assurance.ts'
import { restsOnAgreement } from '../../../src/mending/compare.ts'
import type { World } from '../world.ts'

/** More blocks than a test has with payments that rest on one provider's word. */
const BELIEVED_MAX = 20

/** Runs the pass until nothing rests on one provider's word: each run compares one block again. */
export async function proveTheRest({ ctx, payments }: Pick<World, 'ctx' | 'payments'>): Promise<void> {
  if (!(await restsOnAgreement(ctx))) return
  for (let i = 0; i < BELIEVED_MAX && (await readBelievedBlock(ctx.pool)) !== null; i++) await payments()
}
