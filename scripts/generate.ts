// `npm run generate`: writes every file that is made from another one. The check that they are current is in steps.ts.
import { callScript } from './steps.ts'

const written = [await callScript('contracts.ts', 'build'), await callScript('schema.ts', 'writeSchema')]
process.exit(written.every(Boolean) ? 0 : 1)
