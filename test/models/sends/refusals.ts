// Why a call is not sent, as a second reading of docs/RUNBOOK.md (fee.capped, senders that rest): an account rests for a quarter of an hour of block time
// after three calls in a row that reverted, and every other reason is checked in its order, with what is told of it.
import { calm, type Ledger, seen, tell, write } from '../told/troubles.ts'

export interface Account {
  address: string
  /** How its calls ended, oldest first. */
  ended: { state: 'mined' | 'reverted'; time: number }[]
  firstNonce: number
}
export interface Conditions {
  /** The followed block's time. */
  time: number
  estimate: 'ok' | 'NotMinter' | 'Paused' | 'overGasCap' | 'insufficientFunds'
  /** The last block that the providers' histories share; null if they do not differ. */
  sharedBlock: number | null
  isBehind: boolean
  maxFeeWei: bigint
  feeCapWei: bigint
  /** What the account has above the most that the call can cost. */
  above: bigint
  signs: boolean
}
export const [GAS, TIP_MAX_WEI] = [1_000n, 5n]

const resting = (inARow: number, until: number) =>
  `its last ${inARow} transactions reverted; it tries again at block time ${until}`

export function send(ledger: Ledger, account: Account, given: Conditions) {
  const refused = (why: string, detail = '', more = {}) => ({ kind: 'refused', why, detail, ...more })
  const { address, ended } = account
  const lastThree = ended.slice(-3)
  const last = ended.at(-1)
  if (last && lastThree.length === 3 && lastThree.every(({ state }) => state === 'reverted')) {
    const until = last.time + 900
    if (given.time < until) {
      const detail = resting(3, until)
      if (write(ledger, `resting ${address}`, last.time))
        tell(ledger, 'senderRests', { subject: address, detail: { detail } })
      return refused('resting', detail)
    }
  }
  if (given.estimate === 'NotMinter') return refused('roleLost', 'NotMinter')
  if (given.estimate === 'Paused') return refused('reverts', 'Paused')
  if (given.estimate !== 'ok') return refused(given.estimate)
  if (given.sharedBlock !== null)
    return refused('guardRefused', `the providers’ histories differ above block ${given.sharedBlock}`)
  const nonce = account.firstNonce + ended.length
  if (given.isBehind) return refused('providerBehind', `nonce ${nonce - 1}, the ledger is at ${nonce}`)
  const { maxFeeWei, feeCapWei, above } = given
  if (maxFeeWei > feeCapWei) {
    const detail = { nonce, maxFeeWei: String(maxFeeWei), feeCapWei: String(feeCapWei), tipMaxWei: String(TIP_MAX_WEI) }
    if (seen(ledger, `fee ${address}`)) tell(ledger, 'feeCapped', { subject: address, detail })
    return refused('feeCapped', `${maxFeeWei} wei per gas`)
  }
  calm(ledger, `fee ${address}`)
  const needsWei = GAS * maxFeeWei
  const hasWei = needsWei + above
  if (above < 0n)
    return refused('insufficientFunds', `has ${hasWei} wei, needs ${needsWei}`, { short: { hasWei, needsWei } })
  if (!given.signs) return refused('notSigned', 'refused')
  return { kind: 'sent', nonce, validUntil: given.time + 900 }
}
