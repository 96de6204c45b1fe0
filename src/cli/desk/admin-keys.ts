// The commands `node-ledger admin-keys create`, `invite`, `list` and `revoke`: the admin keys and passkeys of the ledger. They need no chain.
import type { Config } from '../../config/load.ts'
import { relyingPartyAt } from '../../domain/keys/passkey.ts'
import type { Act, Fields } from '../../operator/act.ts'
import { createKey, listKeys, revokeAllKeys, revokeKey } from '../../operator/keys/admin-keys.ts'
import {
  invite as inviteSomebody,
  PASSKEYS_OFF,
  revokeInvitation,
  revokePasskey,
} from '../../operator/keys/passkeys.ts'
import type { LedgerDb } from '../../passes/context.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, type OpenDatabase, withDatabase } from '../database.ts'
import { RefusedError, UsageError } from '../errors.ts'
import { writeNew } from '../new-file.ts'
import { accepted, fieldsOf } from '../operator.ts'
import { mustAgree, tableOf } from '../output.ts'

const COLUMNS = ['id', 'label', 'scopes', 'state', 'expiresAt', 'usedAt', 'madeBy', 'madeAt', 'revokedBy']

/** What is shown once: a key, or the link of an invitation. */
interface Made {
  id: number
  label: string
  expiresAt: Date
}

const labelsOf = ({ ADMIN_KEY }: Config) => (ADMIN_KEY ?? []).map(({ label }) => label)

/** `admin-keys create`. */
export async function create(call: Call): Promise<ExitCode> {
  return await showOnce(call, {
    make: async ({ pool, config }, given) =>
      accepted((await createKey({ pool, environmentLabels: labelsOf(config) }, actorHere(), given)) as MadeKey, call),
    secretOf: ({ key }) => key,
    say: ({ id, label, expiresAt }) =>
      `Key ${id} of ${label}, until ${expiresAt.toISOString()}. It is not shown again.`,
    sayWhere: ({ id, label }, file) => `Key ${id} of ${label} is in ${file}.`,
  })
}

type MadeKey = Made & { key: string }
type Invited = Made & { link: string }

/** `admin-keys invite`. */
export async function invite(call: Call): Promise<ExitCode> {
  return await showOnce(call, {
    make: async ({ pool, config }, given) => {
      const { PUBLIC_URL: publicUrl } = config
      const deps = { pool, environmentLabels: labelsOf(config), publicUrl }
      if (relyingPartyAt(publicUrl) === null)
        throw new RefusedError(`${PASSKEYS_OFF} PUBLIC_URL is ${publicUrl}: set it to the console's own, with https.`)
      return accepted((await inviteSomebody(deps, actorHere(), given)) as Invited, call)
    },
    secretOf: ({ link }) => link,
    say: ({ id, label, expiresAt }) =>
      `Invitation ${id}: give ${label} the link. It works once, until ${expiresAt.toISOString()}, and is not shown again.`,
    sayWhere: ({ id, label }, file) => `Invitation ${id} is in ${file}: give ${label} the link. It works once.`,
  })
}

/** Makes something and shows its secret this once: on a terminal, or in a new file that only its owner may read. */
async function showOnce<T extends Made>(
  call: Call,
  how: {
    make: (ledger: OpenDatabase, given: Fields) => Promise<T>
    secretOf: (made: T) => string
    say: (made: T) => string
    sayWhere: (made: T, file: string) => string
  },
): Promise<ExitCode> {
  const { io, out } = call
  const { out: file, ...given } = fieldsOf(call)
  if (file === undefined && !io.stdout.isTTY)
    throw new UsageError('There is no terminal to show it on: add --out <file>.')
  return await withDatabase(io, async (ledger) => {
    if (typeof file !== 'string') {
      const made = await how.make(ledger, given)
      await out.result(made, how.secretOf(made))
      out.say(how.say(made))
      return EXIT.done
    }
    const made = await writeNew(file, () => how.make(ledger, given), how.secretOf)
    const { key: _key, link: _link, ...shown } = made as T & { key?: string; link?: string }
    await out.result({ ...shown, file }, how.sayWhere(made, file))
    return EXIT.done
  })
}

/** What `listKeys` answers, as far as it is shown here. */
interface Listed {
  keys: Row[]
  passkeys: (Row & { invitedBy: string })[]
  invitations: (Row & { passkeyExpiresAt: Date })[]
}
type Row = { id: number; scopes: string[]; expiresAt: Date }

/** `admin-keys list`. */
export async function list(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async ({ pool, config }) => {
    const environmentLabels = labelsOf(config)
    const found = (await listKeys({ pool, environmentLabels })) as Listed
    const rows = [
      ...found.keys,
      ...found.passkeys.map((row) => ({ ...row, id: `passkey-${row.id}`, madeBy: row.invitedBy })),
      ...found.invitations.map((row) => ({ ...row, id: `invitation-${row.id}`, state: 'waits' })),
    ].map((row) => ({ ...row, scopes: row.scopes.join(',') }))
    const inSettings =
      environmentLabels.length > 0 ? `\nIn ADMIN_KEY, with every scope: ${environmentLabels.join(', ')}.` : ''
    await call.out.result(found, () => (rows.length === 0 ? 'None.' : tableOf(rows, COLUMNS)) + inSettings)
    return EXIT.done
  })
}

/** What a number in the list may stand for, by what is before it. */
const REVOKED = {
  '': { act: revokeKey, question: (id) => `Have key ${id} open no more?` },
  'passkey-': { act: revokePasskey, question: (id) => `Have passkey ${id} sign in no more, and end its sessions?` },
  'invitation-': { act: revokeInvitation, question: (id) => `Have invitation ${id} make no passkey?` },
} satisfies Record<string, Revoking>
const REVOKE_ALL: Revoking = {
  act: revokeAllKeys,
  question: () => 'Have no key and no passkey of the ledger open any more?',
}
interface Revoking {
  act: Act<LedgerDb>
  question: (id: string) => string
}

/** `admin-keys revoke`. */
export async function revoke(call: Call): Promise<ExitCode> {
  const { io, out, args, flags } = call
  if (flags.has('all') === (args.id !== undefined)) throw new UsageError('Name a key by its number, or add --all.')
  const [, kind = '', id = ''] = /^(passkey-|invitation-)?(.*)$/.exec(args.id ?? '') ?? []
  const { act, question } = flags.has('all') ? REVOKE_ALL : REVOKED[kind as keyof typeof REVOKED]
  return await withDatabase(io, async ({ pool }) => {
    await mustAgree(call, question(id), 'The keys stay as they were.')
    const given = { ...fieldsOf(call), ...(id !== '' && { id }) }
    const done = accepted(await act({ pool }, actorHere(), given), call)
    await out.result(done, 'Revoked: within three seconds no instance opens to it.')
    return EXIT.done
  })
}
