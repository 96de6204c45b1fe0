// A process of its own that reads a file as an allowlist and builds its tree, which takes seconds for a large one: the command that starts it
// goes on answering Ctrl-C. It says what the file has, and then hands over one part after the other as it is asked.
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
