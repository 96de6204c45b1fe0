// The command `allowlists add`: reads a file of any size in a separate process, shows what is in it, and enters it.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { extname, join } from 'node:path'
import type { AllowlistPart } from '../../db/sale/allowlists.ts'
import { enteredInWords, enterList, GIVEN, problemsInWords } from '../../operator/allowlists/acts.ts'
import type { BuiltList, ListPreview } from '../../operator/allowlists/built.ts'
import { readInput } from '../../operator/input.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withLedger } from '../database.ts'
import { UsageError } from '../errors.ts'
import { accepted, type View } from '../operator.ts'
import { mustAgree } from '../output.ts'

export type FromBuilder = { preview: ListPreview; parts: number } | { part: AllowlistPart } | { unreadable: string }

export const VIEWS: Readonly<Record<string, View>> = {
  'allowlists add': {
    options: { file: { help: 'the list, as CSV', value: 'path', required: true } },
    run: add,
  },
}

/** The program that builds the tree: in a checkout the source, in a package the built file. */
const BUILDER = join(import.meta.dirname, `build-allowlist${extname(import.meta.filename)}`)

/** Runs the command: 1 if a line is bad. */
async function add(call: Call): Promise<ExitCode> {
  const { values, flags, io, out, signal } = call
  const { file = '' } = values
  const { asked } = accepted(readInput(GIVEN, values, { check: undefined, refuseOthers: false }), call)
  return await withLedger(io, async ({ pool }) => {
    const builder = fork(BUILDER, [file], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      signal,
    })
    try {
      const list = await listOf(builder, file)
      const { preview } = list
      const asIs = { ...preview, changed: false }
      if (preview.root === null) {
        await out.result(asIs, () => problemsInWords(preview).join('\n'))
        return EXIT.negative
      }
      if (flags.has('dry-run')) {
        await out.result(asIs, enteredInWords(asIs))
        return EXIT.done
      }
      out.say(
        `${preview.entries} wallets, ${preview.allocated} nodes in all; no bad lines. The root is ${preview.root}.`,
      )
      await mustAgree(call, 'Enter this list permanently?')
      const entered = await enterList(pool, actorHere(), list, asked)
      await out.result(entered, enteredInWords(entered))
      return EXIT.done
    } finally {
      builder.kill()
    }
  })
}

async function listOf(builder: ChildProcess, file: string): Promise<BuiltList> {
  const ended = once(builder, 'exit').then(([code, signal]) => {
    throw new Error(`the process that builds the tree ended early (${code ?? signal})`)
  })
  // If the process ends while we need nothing from it, that is not an error.
  ended.catch(() => {})
  const next = async () => (await Promise.race([once(builder, 'message'), ended]))[0] as FromBuilder
  const said = await next()
  if ('unreadable' in said) throw new UsageError(`--file: ${file} cannot be read (${said.unreadable})`)
  if ('part' in said) throw new Error('a part arrived before it was requested')
  return {
    ...said,
    part: async (number) => {
      const answer = next()
      builder.send(number)
      const given = await answer
      return 'part' in given ? given.part : Promise.reject(new Error('no part came'))
    },
  }
}
