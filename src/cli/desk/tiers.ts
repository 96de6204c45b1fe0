// The commands `node-ledger tiers …`: what is on sale at what price. A change is a new version; what it changes is shown first.
import type { Actor, Fields, OperatorDeps, OperatorRefusal } from '../../operator/act.ts'
import {
  changeTier,
  createTier,
  type EnteredTier,
  listTiers,
  nextGraceSec,
  setOnSale,
  type TierView,
} from '../../operator/tiers.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { inEther } from '../ether.ts'
import { accepted, fieldsOf } from '../operator.ts'
import { fields, mustAgree, table } from '../output.ts'

/** `tiers list`. */
export async function list({ io, out }: Call): Promise<ExitCode> {
  return await withDatabase(io, async (deps) => {
    const found = await listTiers(deps)
    await out.result(found, () =>
      found.tiers.length === 0 ? 'None: "node-ledger tiers create" enters one.' : asTable(found.tiers),
    )
    return EXIT.done
  })
}

function asTable(tiers: readonly TierView[]): string {
  return table(
    ['tier', 'no', 'label', 'ether', 'per wallet', 'payout', 'must hold', 'on sale', 'version', 'from block'],
    tiers.map((tier) => [
      tier.tierId,
      tier.tierNo,
      tier.label,
      inEther(tier.priceWei),
      tier.maxPerWallet,
      `${tier.payoutBps / 100} %`,
      tier.holdingToken && `${tier.holdingWei} of ${tier.holdingSymbol ?? tier.holdingToken}`,
      tier.onSale ? 'yes' : 'no',
      tier.versions.length,
      tier.fromBlock,
    ]),
  )
}

type Change = (deps: OperatorDeps, actor: Actor, input: Fields) => Promise<EnteredTier | OperatorRefusal>

/** `tiers create`. */
export const create = (call: Call) => enter(call, createTier, fieldsOf(call), 'Enter this tier, for good?')
/** `tiers price`: a new price, or other terms. */
export const price = (call: Call) => enter(call, changeTier, fieldsOf(call), 'Enter this version?')
/** `tiers on-sale`. */
export const onSale = (call: Call) => enter(call, setOnSale, { ...fieldsOf(call), onSale: true }, 'Put it on sale?')
/** `tiers off-sale`. */
export const offSale = (call: Call) => enter(call, setOnSale, { ...fieldsOf(call), onSale: false }, 'Take it off sale?')

async function enter(call: Call, change: Change, input: Fields, question: string): Promise<ExitCode> {
  const { io, out } = call
  return await withOperator(io, async (deps) => {
    const { tiers } = await listTiers(deps)
    const known = tiers.find(({ tierId }) => tierId === input.tierId)
    out.say(preview(known ?? null, input))
    out.say(`It holds from the next block on.${known ? ` ${graceInWords(known, input, deps)}` : ''}`)
    await mustAgree(call, question)
    const done = accepted(await change(deps, actorHere(), input), call)
    await out.result(done, () => `${done.changed ? 'Entered' : 'It stood so already'}.\n${asTable([done.tier])}`)
    return EXIT.done
  })
}

/** Until when what is on sale now still sells. */
function graceInWords({ versions }: TierView, { graceSec, atOnce }: Fields, { rules }: OperatorDeps): string {
  if (atOnce === true) return 'No payment in a later block at what was on sale before is a sale.'
  return `What was on sale before still buys it for ${Number(graceSec ?? nextGraceSec(versions, rules)) / 60} minutes.`
}

/** The new values beside the present ones. */
function preview(before: TierView | null, input: Fields): string {
  const now = before as unknown as Record<string, unknown> | null
  return fields(
    Object.entries(input).map(([name, value]) => {
      const old = name === 'tierId' || name === 'reason' ? undefined : now?.[name]
      return [
        name,
        old === undefined || String(old) === String(value)
          ? shown(name, value)
          : `${shown(name, old)} -> ${shown(name, value)}`,
      ]
    }),
  )
}

function shown(name: string, value: unknown): string {
  if (name !== 'priceWei' || !/^\d+$/.test(String(value))) return String(value)
  return `${value} (${inEther(String(value))} ether)`
}
