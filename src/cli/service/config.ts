// The command `node-ledger config`: the settings in effect, with secrets masked.
import { describeConfig } from '../../config/load.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { readSettings } from '../database.ts'
import { fields } from '../output.ts'

export async function config({ io, out }: Call): Promise<ExitCode> {
  const settings = readSettings(io)
  const texts = describeConfig(settings)
  await out.result(texts, () => fields(Object.entries(texts)))
  for (const { setting, message } of settings.hints) out.say(`${setting} ${message}.`)
  return EXIT.done
}
