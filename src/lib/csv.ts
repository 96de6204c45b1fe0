// Writes CSV (RFC 4180: commas, CRLF, doubled quotes). A spreadsheet must never take a cell for a formula, because some of what we export was written
// by strangers.

/** Characters with which a formula may begin in a spreadsheet (OWASP's list). */
const FORMULA = /^[=+\-@\t\r\n]/
const NUMBER = /^-?\d+(\.\d+)?$/

/** One cell. Null makes an empty cell. A text that could be a formula gets an apostrophe in front, unless it is a number. */
function csvCell(value: string | null): string {
  if (value === null) return ''
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** One line, with its line end. */
export const csvLine = (cells: readonly (string | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`
