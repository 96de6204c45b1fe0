// Other commands as steps of `node-ledger init`: exactly the commands that an operator would type, with the folder's settings.
import { Writable } from 'node:stream'
import { findCommand, parseArguments } from '../arguments.ts'
import type { Call, ExitCode } from '../command.ts'
import { createOutput } from '../output.ts'

/** Runs a command. Throws what it throws. */
export async function run(
  call: Call,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  io = call.io,
): Promise<ExitCode> {
  const match = findCommand(argv, await call.commands(argv[0]))
  if (!match) throw new Error(`there is no command ${argv[0]}`)
  call.out.say(`\n$ ledger ${argv.map((word) => (word.includes(' ') ? `"${word}"` : word)).join(' ')}`)
  const input = parseArguments(match.command, match.rest)
  const own = { ...io, env }
  const act = await match.command.load()
  return await act({
    ...call,
    ...input,
    command: match.command,
    io: own,
    out: createOutput(own, input.flags.has('json')),
  })
}

/** The result that a command prints as JSON. */
export async function jsonOf<T>(call: Call, argv: readonly string[], env: NodeJS.ProcessEnv): Promise<T> {
  const parts: Buffer[] = []
  const stdout = new Writable({
    write(part: Buffer, _encoding, callback) {
      parts.push(Buffer.from(part))
      callback()
    },
  })
  await run(call, [...argv, '--json'], env, { ...call.io, stdout })
  return JSON.parse(Buffer.concat(parts).toString()) as T
}
