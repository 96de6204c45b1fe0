// The settings that `node-ledger init` writes, and the files with them.
import { isSecret, SETTINGS } from '../../config/names.ts'
import type { Call } from '../command.ts'
import { commandOf } from './command.ts'
import type { Folder } from './folder.ts'
import { ANSWERS, type Answers, QUESTIONS } from './questions.ts'

/** Settings of every ledger that `init` sets up. */
export const ALWAYS = { DIST_ENABLED: 'true', SCHEDULER: 'on' }

interface Setup {
  readonly call: Pick<Call, 'io'>
  readonly folder: Folder
  readonly answers: Partial<Answers>
}

/** The settings that follow from the answers and the contract, one per line. */
export function settingsOf({ call, folder, answers }: Setup): string[] {
  const { chainId, factory } = folder.progress()
  const lines = ANSWERS.flatMap((name) => {
    const { [name]: answer } = answers
    return QUESTIONS[name].setting && answer ? [`${QUESTIONS[name].setting}=${answer}`] : []
  })
  const isTerm = (line: string) => line.startsWith('CREDIT_')
  const settings = [
    '# Settings of this ledger; docs/SETTINGS.md lists all. Secrets are in files of their own.',
    'NODE_ENV=production',
    ...(factory
      ? [`CHAIN_ID=${chainId}`, `FACTORY_ADDRESS=${factory.address}`, `START_BLOCK=${factory.startBlock}`]
      : []),
    ...lines.filter((line) => !isTerm(line)),
    '# The credit terms of the new ledger: read at its first start only.',
    ...lines.filter(isTerm),
    ...Object.entries(ALWAYS).map(([name, value]) => `${name}=${value}`),
  ]
  settings.push(...Object.entries(folder.keySettings()).map(([name, value]) => `${name}=${quote(value)}`))
  const names = settings.map((line) => line.split('=')[0])
  const otherNames = SETTINGS.filter((name) => !isSecret(name) && call.io.env[name] && !names.includes(name))
  settings.push(...otherNames.map((name) => `${name}=${quote(call.io.env[name] ?? '')}`))
  return settings
}

/** A value quoted so that a shell and systemd read the same text. */
const quote = (value: string) => (/^[\w.:/,@%+-]*$/.test(value) ? value : `'${value.replaceAll("'", '')}'`)

/** Writes the files once. A later run keeps the operator's changes. */
export function writeFiles(setup: Setup): void {
  const { folder } = setup
  folder.add('settings.env', `${settingsOf(setup).join('\n')}\n`)
  folder.add('ledger', commandOf(folder), 0o755)
}
