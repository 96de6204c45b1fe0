// The client's types, made from api/openapi.yaml by openapi-typescript, and its compilation. Both need TypeScript 5, which the
// client brings for itself.
import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const CLIENT = new URL('../client/', import.meta.url)
const FILE = new URL('src/schema.ts', CLIENT)
const GENERATOR = fileURLToPath(new URL('node_modules/openapi-typescript/bin/cli.js', CLIENT))
const COMPILER = fileURLToPath(new URL('node_modules/typescript/bin/tsc', CLIENT))

/** Writes the types anew. */
export async function writeClientTypes(): Promise<void> {
  await writeFile(FILE, generate())
}

/** Whether the types are what the document makes; says what to do when not. */
export async function checkClientTypes(): Promise<boolean> {
  if ((await readFile(FILE, 'utf8')) === generate()) return true
  console.error('client/src/schema.ts is not what api/openapi.yaml makes: run "npm run generate" and commit it.')
  return false
}

/** Whether the client and what is promised of its types compile. */
export function compileClient(): boolean {
  return (
    spawnSync(process.execPath, [COMPILER, '--project', 'tsconfig.json'], { cwd: CLIENT, stdio: 'inherit' }).status ===
    0
  )
}

function generate(): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [GENERATOR, '../api/openapi.yaml'], {
    cwd: CLIENT,
    encoding: 'utf8',
    maxBuffer: 16 << 20,
  })
  if (status !== 0) throw new Error(`openapi-typescript failed:\n${stderr}`)
  return stdout
}
