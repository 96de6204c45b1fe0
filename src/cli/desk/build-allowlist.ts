// A process that reads a file as an allowlist and builds its tree. That takes seconds for a large list, so a separate process keeps the command
// responsive to Ctrl-C. It reports what the file contains, then sends one part after another on request.
import { createReadStream } from 'node:fs'
import { codeOf } from '../../lib/errors.ts'
import { build } from '../../operator/allowlists/built.ts'
import { readList } from '../../operator/allowlists/read.ts'
import type { FromBuilder } from './allowlists.ts'

const say = (message: FromBuilder) => process.send?.(message)

process.on('disconnect', () => process.exit())
try {
  const { preview, parts, part } = build(await readList(createReadStream(process.argv[2] ?? '')))
  process.on('message', async (number: number) => say({ part: await part(number) }))
  say({ preview, parts })
} catch (error) {
  const code = codeOf(error)
  if (code === null) throw error
  say({ unreadable: code })
}
