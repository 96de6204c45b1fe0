// Writes client/REFERENCE.md: every public name of the client with its declaration and its documentation, as the compiler has them.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'

const CLIENT = fileURLToPath(new URL('../../client/', import.meta.url))
const PATH = join(CLIENT, 'REFERENCE.md')
/** Each entry point, with its module. */
const ENTRIES = [
  ['@node-ledger/client', 'index'],
  ['@node-ledger/client/viem', 'viem/index'],
] as const

interface Statement {
  type: string
  start: number
  end: number
  source?: { value: string } | null
  specifiers?: { local: { name: string } }[]
  declaration?: { id?: { name: string }; declarations?: { id: { name: string } }[] } | null
}

export function writeClientReference(): void {
  writeFileSync(PATH, referenceOf())
}

/** Checks that the reference matches the sources. If not, says what to do. */
export function checkClientReference(): boolean {
  if (readFileSync(PATH, 'utf8') === referenceOf()) return true
  console.error('client/REFERENCE.md is not what client/src makes: run "npm run generate" and commit it.')
  return false
}

function referenceOf(): string {
  const out = mkdtempSync(join(tmpdir(), 'client-reference-'))
  try {
    const compiler = join(CLIENT, 'node_modules/typescript/bin/tsc')
    const how = [
      '--project',
      'tsconfig.build.json',
      '--emitDeclarationOnly',
      '--sourceMap',
      'false',
      '--inlineSources',
      'false',
    ]
    const { status, stdout } = spawnSync(process.execPath, [compiler, ...how, '--outDir', out], {
      cwd: CLIENT,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`The client does not compile:\n${stdout}`)
    const parts = ENTRIES.map(([name, module]) => `## ${name}\n\n${declarationsOf(join(out, module)).join('\n')}`)
    return `# The client's public names\n\nMade by \`npm run generate\` from the declarations that the compiler makes. [README.md](README.md) shows how they are used, [API.md](../docs/API.md) what the routes answer.\n\n${parts.join('\n')}`
  } finally {
    rmSync(out, { recursive: true })
  }
}

/** A module's exports, including those that it re-exports, as Markdown blocks. */
function declarationsOf(module: string): string[] {
  return readModule(module).flatMap(({ statement }) => {
    if (!statement.source) return []
    const from = join(module, '..', statement.source.value.replace(/\.(d\.)?[jt]s$/, ''))
    const names = statement.specifiers?.map(({ local }) => local.name)
    return readModule(from)
      .filter(({ name }) => name !== null && (names === undefined || names.includes(name)))
      .map(({ name, text }) => `### ${name}\n\n\`\`\`ts\n${text}\n\`\`\`\n`)
  })
}

/** The statements of a declaration file, each with the comment above it. */
function readModule(module: string): { statement: Statement; name: string | null; text: string }[] {
  const source = readFileSync(`${module}.d.ts`, 'utf8')
  const { program, comments } = parseSync(`${module}.d.ts`, source)
  return (program.body as unknown as Statement[]).map((statement) => {
    const { declaration } = statement
    const above = comments.find(
      ({ type, end }) => type === 'Block' && end <= statement.start && source.slice(end, statement.start).trim() === '',
    )
    const name = declaration?.id?.name ?? declaration?.declarations?.[0]?.id.name ?? null
    return { statement, name, text: source.slice(above?.start ?? statement.start, statement.end) }
  })
}
