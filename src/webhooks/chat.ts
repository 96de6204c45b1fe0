// Writes the body for a chat's own incoming webhook: a sentence, in the field that the chat reads. Every other receiver gets the event itself. Both
// get links to what to do. We recognise a chat by its host, so an endpoint needs no setting for it.
// Slack: api.slack.com/messaging/webhooks; Discord: discord.com/developers/docs/resources/webhook; Telegram: core.telegram.org/bots/api#sendmessage.
import { inEther } from '../domain/units.ts'
import { KINDS, type Links, linksOf, type Told } from '../domain/webhooks/kinds.ts'
import { chatField } from '../domain/webhooks/receiver.ts'

/** Fields that a person needs, in this order. */
const TOLD = [
  ['reason', 'alarm', 'status', 'action', 'actor', 'subject', 'tierId'],
  ['valueWei', 'totalWei', 'amountWei', 'balanceWei', 'neededWei'],
  ['sender', 'address', 'from', 'toAddress'],
  ['nodeId', 'nodeCount', 'count', 'spent', 'fromBlock', 'toBlock', 'txHash'],
].flat()

/** The body of a delivery to `url`: the event's JSON, with the links for its kind. */
export function bodyFor(url: string, event: string, publicUrl: string): string {
  const notice = JSON.parse(event) as Told
  const links = linksOf(notice, publicUrl)
  const field = chatField(url)
  if (field === null) return JSON.stringify({ ...notice, data: { ...notice.data, ...links } })
  return JSON.stringify({ [field]: [sentenceOf(notice), ...linesOf(links)].join('\n') })
}

/** The links, one per line. */
export const linesOf = ({ consoleUrl, runbookUrl }: Links): string[] => [
  ...(runbookUrl === null ? [] : [`What to do: ${runbookUrl}`]),
  `Where: ${consoleUrl}`,
]

/** What happened, in a sentence. */
export function sentenceOf({ type, data }: Told): string {
  const facts = TOLD.flatMap((name) => {
    const value = data[name]
    if (value === undefined || value === null) return []
    return name.endsWith('Wei') ? [`${inEther(BigInt(String(value)))} ETH`] : [`${name} ${plain(String(value))}`]
  })
  return `${KINDS[type]?.words ?? type}${facts.length > 0 ? `: ${facts.join(', ')}` : ''}.`
}

/** Removes what a chat would take for a mention, a link or formatting. */
const plain = (text: string) => text.replaceAll(/[<>&@*_`~|[\]]/g, '')
