// The command `node-ledger audit list`: who did what to what, when.
import type { components } from '../../../api/admin.ts'
import { toJson } from '../../lib/json.ts'
import { listAudit } from '../../operator/audit.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { withDatabase } from '../database.ts'
import { accepted, fieldsOf, showPage } from '../operator.ts'
import { table } from '../output.ts'

/** The rest is for --json: a line of a terminal holds no more. */
const DETAIL_CHARS_MAX = 80

/** Runs the command. */
export async function list(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (deps) => {
    const page = accepted(await listAudit(deps, fieldsOf(call)), call)
    await showPage(call, page, (rows) =>
      table(
        ['at', 'actor', 'action', 'subject', 'detail'],
        (rows as components['schemas']['AuditEntry'][]).map(({ at, actor, action, subject, detail }) => [
          at,
          actor,
          action,
          subject,
          shortened(toJson(detail)),
        ]),
      ),
    )
    return EXIT.done
  })
}

function shortened(text: string): string {
  return text.length > DETAIL_CHARS_MAX ? `${text.slice(0, DETAIL_CHARS_MAX)}…` : text
}
