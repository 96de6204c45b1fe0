// `npm run generate`: writes every generated file. With `--check` it writes nothing, and fails if a file does not match
// its source.
import { checkAdminDocument, writeAdminDocument } from './admin-document.ts'
import { checkApiTypes, writeApiTypes } from './api-types.ts'
import { writeCliReference } from './cli-reference.ts'
import { checkClientReference, writeClientReference } from './client/reference.ts'
import { buildCommand, checkContracts } from './contracts.ts'
import { checkSettings, writeSettings } from './settings.ts'
import { checkTables, writeTables } from './tables.ts'

async function check(): Promise<boolean> {
  const contractsCode = checkContracts()
  const current = [
    checkAdminDocument(),
    await checkApiTypes(),
    checkSettings(),
    checkTables(),
    checkClientReference(),
    contractsCode === 0,
  ]
  return current.every(Boolean)
}

async function write(): Promise<boolean> {
  writeAdminDocument()
  await writeApiTypes()
  writeCliReference()
  writeClientReference()
  writeSettings()
  writeTables()
  return buildCommand() === 0
}

process.exit((await (process.argv.includes('--check') ? check() : write())) ? 0 : 1)
