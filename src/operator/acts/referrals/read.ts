// Reads a list of referral codes as CSV (lib/csv.ts): the code, its payee and its commission. Refuses a line instead of guessing, and names the first
// bad ones with what was expected.
import type { Address } from '../../../domain/units.ts'
import { readCsv } from '../../../lib/csv.ts'
import type { Field } from '../../input.ts'

const PROBLEMS_MAX = 20
/** A title such as "commission" would leave open whether it means a percentage. */
const COLUMNS = {
  code: ['code', 'referralcode'],
  payee: ['payee', 'wallet', 'address'],
  commissionBps: ['commissionbps', 'bps', 'basispoints'],
}

interface Row {
  code: string
  payee: Address
  commissionBps: number
}
type Fields = { readonly [Name in keyof Row]: Field<Row[Name]> }

/** The codes of a list. `problems`: a sentence for each of the first bad lines. */
export async function readCodes(text: string, fields: Fields, rowsMax: number) {
  const lineOf = new Map<string, number>()
  const codes: Row[] = []
  const problems: string[] = []
  const take = (line: number, cells: Readonly<Record<keyof Row, string>>): string | null => {
    const code = fields.code.parse(cells.code)
    if (code === undefined) return `the code must be ${fields.code.form}`
    const payee = fields.payee.parse(cells.payee)
    if (payee === undefined) return `the payee must be ${fields.payee.form}`
    const commissionBps = fields.commissionBps.parse(cells.commissionBps)
    if (commissionBps === undefined)
      return `the commission must be basis points, ${fields.commissionBps.form}: 500 is 5 %`
    const earlierLine = lineOf.get(code)
    if (earlierLine !== undefined) return `the code ${code} is already on line ${earlierLine}`
    if (codes.length === rowsMax) return `a list has at most ${rowsMax} rows`
    lineOf.set(code, line)
    codes.push({ code, payee, commissionBps })
    return null
  }
  for await (const row of readCsv([Buffer.from(text)], COLUMNS)) {
    const problem = row.problem ?? take(row.line, row.cells)
    if (problem !== null) problems.push(`Line ${row.line}: ${problem}.`)
    if (problems.length === PROBLEMS_MAX) break
  }
  if (codes.length === 0 && problems.length === 0) problems.push('Line 1: the list has no row.')
  return { codes, problems }
}
