// The types of the routes' answers, made by openapi-typescript, which needs the TypeScript 5 that the client brings for itself: the
// client's from api/openapi.yaml, the operator's from api/admin.yaml.
import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const CLIENT = join(ROOT, 'client')
const GENERATOR = join(CLIENT, 'node_modules/openapi-typescript/bin/cli.js')

/** Files of types, each with the document that it is made from. */
const TYPES = [
  { file: 'client/src/schema.ts', document: 'api/openapi.yaml' },
  { file: 'api/admin.ts', document: 'api/admin.yaml' },
]

/** Writes all of them. */
export async function writeApiTypes(): Promise<void> {
  for (const { file, document } of TYPES) await writeFile(join(ROOT, file), generate(document))
}

/** Checks that they are made from the documents; says what to do when not. */
export async function checkApiTypes(): Promise<boolean> {
  let isCurrent = true
  for (const { file, document } of TYPES) {
    if ((await readFile(join(ROOT, file), 'utf8')) === generate(document)) continue
    console.error(`${file} is not what ${document} makes: run "npm run generate" and commit it.`)
    isCurrent = false
  }
  return isCurrent
}

function generate(document: string): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [GENERATOR, join('..', document)], {
    cwd: CLIENT,
    encoding: 'utf8',
    maxBuffer: 16 << 20,
  })
  if (status !== 0) throw new Error(`openapi-typescript failed:\n${stderr}`)
  return stdout
}
