// `npm run generate`: writes every file that is made from another one. The check that they are current is in steps.ts.

import { writeCliReference } from './cli-reference.ts'
import { writeClientTypes } from './client.ts'
import { buildCommand } from './contracts.ts'
import { writeMayImport } from './imports.ts'
import { writeSchema } from './schema.ts'

await writeClientTypes()
writeCliReference()
writeMayImport()
const contractsCode = buildCommand()
process.exit((await writeSchema()) && contractsCode === 0 ? 0 : 1)
