// Writes the body for a chat's own incoming webhook: a sentence, in the field that it reads. Every other receiver gets the event itself. A chat is
// known by its host, so an endpoint needs no setting for it.
// Slack: api.slack.com/messaging/webhooks; Discord: discord.com/developers/docs/resources/webhook; Telegram: core.telegram.org/bots/api#sendmessage.
import { formatEther } from 'viem/utils'

/** The field for text, by the host of the webhook. */
const FIELD_OF: Readonly<Record<string, string>> = {
  'hooks.slack.com': 'text',
  'discord.com': 'content',
  'api.telegram.org': 'text',
}

/** Each kind of event in words. */
const WORDS: Readonly<Record<string, string>> = {
  'payment.held': 'A payment is held, and waits for you',
  'payment.minted': 'A node is sold',
  'payment.decided': 'A payment was decided about',
  'round.credited': 'A round is credited',
  'rounds.paused': 'Rounds are paused',
  'rounds.resumed': 'Rounds go on',
  'withdrawal.seen': 'An owner withdrew',
  'refund.alarm': 'A refund contradicts the chain',
  'drift.found': 'Ledger and contract differ',
  'funds.low': 'An account runs low on ether',
  'budget.low': 'The minter’s budget runs low',
  'budget.spent': 'The minter’s budget is spent, and a payment waits',
  'chain.reorganised': 'Blocks were taken back',
  'passes.halted': 'The passes are halted',
  'passes.resumed': 'The passes go on',
  'terms.changed': 'The credit terms were changed',
  'tiers.changed': 'A tier was changed',
  'wallet.changed': 'The payments wallet was changed',
  'signer.down': 'A signer does not sign',
  'signer.restored': 'A signer signs again',
  'key.used': 'A key of ours was used elsewhere',
  'ledger.restored': 'The ledger was restored from a backup: payments are held to be looked at',
}
/** Fields that a person needs, in this order. */
const TOLD = [
  ['reason', 'alarm', 'status', 'action', 'actor', 'subject', 'tierId'],
  ['valueWei', 'totalWei', 'amountWei', 'balanceWei', 'neededWei'],
  ['sender', 'address', 'from', 'toAddress'],
  ['nodeId', 'nodeCount', 'count', 'spent', 'fromBlock', 'toBlock', 'txHash'],
].flat()

/** The body of a delivery of `event`, its JSON, to `url`. */
export function bodyFor(url: string, event: string): string {
  const field = FIELD_OF[new URL(url).hostname]
  return field === undefined ? event : JSON.stringify({ [field]: sentenceOf(JSON.parse(event)) })
}

function sentenceOf({ type, data }: { type: string; data: Readonly<Record<string, unknown>> }): string {
  const facts = TOLD.flatMap((name) => {
    const value = data[name]
    if (value === undefined || value === null) return []
    return name.endsWith('Wei') ? [`${formatEther(BigInt(String(value)))} ETH`] : [`${name} ${plain(String(value))}`]
  })
  return `${WORDS[type] ?? type}${facts.length > 0 ? `: ${facts.join(', ')}` : ''}.`
}

/** Nothing that a chat would take for a mention, a link or a form of letters. */
const plain = (text: string) => text.replaceAll(/[<>&@*_`~|[\]]/g, '')
