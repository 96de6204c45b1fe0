// What `node-ledger admin-keys create`, `invite`, `list` and `revoke` do beyond their acts: show a secret once, or write it to a file.
import { relyingPartyAt } from '../../domain/keys/passkey.ts'
import type { LedgerPart } from '../../operator/act.ts'
import { createKey, listKeys, revokeAllKeys, revokeKey } from '../../operator/acts/keys/admin-keys.ts'
import { invite, PASSKEYS_OFF, revokeInvitation, revokePasskey } from '../../operator/acts/keys/passkeys.ts'
import { type Act, resultLine } from '../../operator/define-act.ts'
import type { LedgerDb } from '../../ports/contexts.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, readSettings, withLedger } from '../database.ts'
import { RefusedError, UsageError } from '../errors.ts'
import { writeNew } from '../new-file.ts'
import { accepted, fieldsOf, LINE, runAs, type View } from '../operator.ts'
import { tableOf } from '../output.ts'

/** A new key or invitation, with the secret, which is shown once: the key, or the invitation's link. */
interface Made {
  id: number
  label: string
  key?: string
  link?: string
}

/** The fields of `listKeys`' answer that we show here. */
interface Listed {
  environment: string[]
  keys: Row[]
  passkeys: (Row & { invitedBy: string })[]
  invitations: (Row & { passkeyExpiresAt: Date })[]
}
type Row = { id: number; scopes: string[]; expiresAt: Date }

export const VIEWS: Readonly<Record<string, View>> = {
  'admin-keys create': {
    options: { out: { value: 'file', help: 'the file to write; must not exist' } },
    run: (call) => showOnce(call, createKey, ({ id, label }, file) => `Key ${id} of ${label} is in ${file}.`),
  },
  'admin-keys invite': {
    options: { out: { value: 'file', help: 'the file to write the link to; must not exist' } },
    run: async (call) => {
      const { PUBLIC_URL: url } = readSettings(call.io)
      if (relyingPartyAt(url) === null)
        throw new RefusedError(`${PASSKEYS_OFF} PUBLIC_URL is ${url}: set it to the console's https address.`)
      return await showOnce(
        call,
        invite,
        ({ id, label }, file) => `Invitation ${id} is in ${file}: give ${label} the link. It works once.`,
      )
    },
  },
  'admin-keys list': {
    text: ({ environment, keys, passkeys, invitations }: Listed) => {
      const rows = [
        ...keys,
        ...passkeys.map((row) => ({ ...row, id: `passkey-${row.id}`, madeBy: row.invitedBy })),
        ...invitations.map((row) => ({ ...row, id: `invitation-${row.id}`, state: 'waits' })),
      ].map((row) => ({ ...row, scopes: row.scopes.join(',') }))
      const inSettings = environment.length > 0 ? `\nIn ADMIN_KEY, with every scope: ${environment.join(', ')}.` : ''
      return (rows.length === 0 ? 'None.' : tableOf(rows, listKeys.operation.columns ?? [])) + inSettings
    },
  },
}

/** Makes a key or an invitation and shows its secret just once: on a terminal, or in a new file that only its owner can read. */
async function showOnce(
  call: Call,
  act: Act<LedgerPart>,
  sayWhere: (made: Made, file: string) => string,
): Promise<ExitCode> {
  const { io, out } = call
  const { out: file, ...input } = fieldsOf(call)
  if (file === undefined && !io.stdout.isTTY) throw new UsageError('No terminal to show it on: add --out <file>.')
  return await withLedger(io, async (parts) => {
    const make = async () => accepted(await act(parts, actorHere(), input), call) as Made
    const secretOf = ({ key, link }: Made) => key ?? link ?? ''
    if (typeof file !== 'string') {
      const made = await make()
      await out.result(made, secretOf(made))
      out.say(resultLine(act.operation, made))
      return EXIT.done
    }
    const made = await writeNew(file, make, secretOf)
    const { key: _key, link: _link, ...publicFields } = made
    await out.result({ ...publicFields, file }, sayWhere(made, file))
    return EXIT.done
  })
}

/** What an id in the list refers to, by its prefix. */
const REVOKED: Readonly<Record<string, Act<LedgerDb>>> = {
  '': revokeKey,
  'passkey-': revokePasskey,
  'invitation-': revokeInvitation,
}

export async function revoke(call: Call): Promise<ExitCode> {
  const { args, flags } = call
  if (flags.has('all') === (args.id !== undefined)) throw new UsageError('Give the number of a key, or add --all.')
  const [, kind = '', id = ''] = /^(passkey-|invitation-)?(.*)$/.exec(args.id ?? '') ?? []
  const [act, asks] = flags.has('all') ? [revokeAllKeys, 'Revoke them all?'] : [REVOKED[kind], 'Revoke it?']
  const view = { ...LINE, asks, otherwise: 'No key was revoked.' }
  return await runAs((act ?? revokeAllKeys).operation, view, { ...call, args: flags.has('all') ? {} : { id } })
}
