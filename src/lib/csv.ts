// Writes CSV (RFC 4180: commas, CRLF, quotes doubled). A spreadsheet must never read a cell as a formula, because strangers wrote some of what we
// export.

/** Characters that spreadsheets read as the beginning of a formula (OWASP's list). */
const FORMULA = /^[=+\-@\t\r\n]/
const NUMBER = /^-?\d+(\.\d+)?$/

/** One cell. Null is an empty cell. A text that could be a formula gets an apostrophe in front; a number cannot be one. */
function csvCell(value: string | null): string {
  if (value === null) return ''
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** One line, with its line end. */
export const csvLine = (cells: readonly (string | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`
