// The command `node-ledger webhooks add`: adds the endpoints that WEBHOOK_URL names here. It takes neither a URL nor a secret from the command line.
import { choiceText } from '../../domain/webhooks/choice.ts'
import { addWebhook } from '../../operator/acts/webhooks.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { UsageError } from '../errors.ts'
import { accepted } from '../operator.ts'

export async function add(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (ledger) => {
    const { urls, secrets, events } = ledger.config.webhooks
    if (urls.length === 0)
      throw new UsageError(
        'Set WEBHOOK_URL, and WEBHOOK_SECRET for signed events, or their _FILE forms. They have the endpoints to add.',
      )
    const endpoints: object[] = []
    for (const [i, url] of urls.entries()) {
      const input = {
        url,
        ...(secrets.length > 0 && { secret: secrets.join(',') }),
        ...(events?.[i] && { events: choiceText(events[i]) }),
      }
      endpoints.push(accepted(await addWebhook(ledger, actorHere(), input), call))
    }
    await call.out.result({ endpoints }, 'The service sends events there now.')
    return EXIT.done
  })
}
