// The command `allowlists add`: reads a file of any size, shows what is in it, and enters it.
import { createReadStream } from 'node:fs'
import { codeOf } from '../../lib/errors.ts'
import { enteredInWords, enterList, GIVEN, problemsInWords, sizeInWords } from '../../operator/acts/allowlists/acts.ts'
import { build } from '../../operator/acts/allowlists/built.ts'
import { readList } from '../../operator/acts/allowlists/read.ts'
import { readInput } from '../../operator/input.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withLedger } from '../database.ts'
import { UsageError } from '../errors.ts'
import { accepted, type View } from '../operator.ts'
import { mustAgree } from '../output.ts'

export const VIEWS: Readonly<Record<string, View>> = {
  'allowlists add': {
    options: { file: { help: 'the list, as CSV', value: 'path', required: true } },
    run: add,
  },
}

/** Runs the command: 1 if a line is bad. */
async function add(call: Call): Promise<ExitCode> {
  const { values, flags, io, out } = call
  const { file = '' } = values
  const request = accepted(readInput(GIVEN, values, { check: undefined, refuseOthers: false }), call)
  return await withLedger(io, async ({ pool }) => {
    const list = await readList(createReadStream(file)).then(build, (error: unknown) => {
      throw new UsageError(`--file: ${file} cannot be read (${codeOf(error)})`)
    })
    const { preview } = list
    const asIs = { ...preview, dryRun: true, changed: false }
    if (preview.root === null) {
      await out.result(asIs, () => problemsInWords(preview).join('\n'))
      return EXIT.negative
    }
    if (flags.has('dry-run')) {
      await out.result(asIs, enteredInWords(asIs))
      return EXIT.done
    }
    out.say(`${sizeInWords(preview)}; no bad lines. The root is ${preview.root}. A list never changes.`)
    await mustAgree(call, 'Enter this list?')
    const result = await enterList(pool, actorHere(), list, request)
    await out.result(result, enteredInWords(result))
    return EXIT.done
  })
}
