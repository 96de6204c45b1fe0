// The commands `node-ledger admin-keys create`, `list` and `revoke`: the admin keys of the ledger. They need no chain.
import type { Config } from '../../config/shape.ts'
import { createKey, listKeys, revokeAllKeys, revokeKey } from '../../operator/keys/admin-keys.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { UsageError } from '../errors.ts'
import { accepted, fieldsOf } from '../operator.ts'
import { mustAgree, tableOf } from '../output.ts'
import { writeNew } from '../service/keys.ts'

const COLUMNS = ['id', 'label', 'scopes', 'state', 'expiresAt', 'usedAt', 'madeBy', 'madeAt', 'revokedBy']

/** What `createKey` answers. */
interface Made {
  id: number
  label: string
  expiresAt: Date
  key: string
}

const labelsOf = ({ secrets }: Config) => secrets.adminKeys.map(({ label }) => label)

/** `admin-keys create`. */
export async function create(call: Call): Promise<ExitCode> {
  const { io, out, values } = call
  const { out: path, ...given } = fieldsOf(call)
  if (path === undefined && !io.stdout.isTTY)
    throw new UsageError('There is no terminal to show the key on: add --out <file>.')
  return await withDatabase(io, async ({ pool, config }) => {
    const deps = { pool, environmentLabels: labelsOf(config) }
    const make = async () => accepted((await createKey(deps, actorHere(), given)) as Made, call)
    if (values.out === undefined) {
      const made = await make()
      await out.result(made, made.key)
      out.say(`Key ${made.id} of ${made.label}, until ${made.expiresAt.toISOString()}. It is not shown again.`)
      return EXIT.done
    }
    const { key: _secret, ...shown } = await writeNew(values.out, make, ({ key }) => key)
    await out.result({ ...shown, file: values.out }, `Key ${shown.id} of ${shown.label} is in ${values.out}.`)
    return EXIT.done
  })
}

/** `admin-keys list`. */
export async function list(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async ({ pool, config }) => {
    const environmentLabels = labelsOf(config)
    const found = (await listKeys({ pool, environmentLabels })) as { keys: { scopes: string[] }[] }
    const rows = found.keys.map((row) => ({ ...row, scopes: row.scopes.join(',') }))
    const inSettings =
      environmentLabels.length > 0 ? `\nIn ADMIN_KEY, with every scope: ${environmentLabels.join(', ')}.` : ''
    await call.out.result(found, () => (rows.length === 0 ? 'None.' : tableOf(rows, COLUMNS)) + inSettings)
    return EXIT.done
  })
}

/** `admin-keys revoke`. */
export async function revoke(call: Call): Promise<ExitCode> {
  const { io, out, args, flags } = call
  const all = flags.has('all')
  if (all === (args.id !== undefined)) throw new UsageError('Name a key by its number, or add --all.')
  return await withDatabase(io, async ({ pool }) => {
    const question = all ? 'Have no key of the ledger open any more?' : `Have key ${args.id} open no more?`
    await mustAgree(call, question, 'The keys stay as they were.')
    const done = accepted(await (all ? revokeAllKeys : revokeKey)({ pool }, actorHere(), fieldsOf(call)), call)
    await out.result(done, 'Revoked: within three seconds no instance opens to it.')
    return EXIT.done
  })
}
