// The client's types, made from api/openapi.yaml by openapi-typescript, which needs the TypeScript 5 that the client brings for itself.
import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const CLIENT = new URL('../client/', import.meta.url)
const FILE = new URL('src/schema.ts', CLIENT)
const GENERATOR = fileURLToPath(new URL('node_modules/openapi-typescript/bin/cli.js', CLIENT))

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

function generate(): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [GENERATOR, '../api/openapi.yaml'], {
    cwd: CLIENT,
    encoding: 'utf8',
    maxBuffer: 16 << 20,
  })
  if (status !== 0) throw new Error(`openapi-typescript failed:\n${stderr}`)
  return stdout
}
