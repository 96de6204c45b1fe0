// The referral codes that calldata names, by api/openapi.yaml (getReferral) and ERC-8021, schema 0: from the end of the calldata a marker of 16 bytes, the
// schema's byte, a byte with the length of the codes, and the codes in ASCII with commas between them.

// Choices in what the documents leave open:
// - A code is one visible ASCII character or more. A suffix with any other text between commas, or none, is malformed and names nothing.
// - A suffix that promises more bytes than there are names nothing either.
// - Codes stay as they are written, registered or not (the column `codes`): an upper-case code is another code, and nobody can register it.

const MARKER = '80218021802180218021802180218021'

/** The codes that calldata names, in their order. */
export function codesOf(data: string): string[] {
  const hex = data.toLowerCase().replace(/^0x/, '')
  if (!hex.endsWith(MARKER)) return []
  const bytes: number[] = []
  for (let i = 0; i + 2 <= hex.length - MARKER.length; i += 2) bytes.push(Number.parseInt(hex.slice(i, i + 2), 16))
  if (bytes.pop() !== 0) return []
  const length = bytes.pop()
  if (length === undefined || length === 0 || length > bytes.length) return []
  let text = ''
  for (const byte of bytes.slice(bytes.length - length)) text += String.fromCharCode(byte)
  const codes = text.split(',')
  const isVisible = (code: string) => code !== '' && [...code].every((one) => one > ' ' && one <= '~')
  return codes.every(isVisible) ? codes : []
}
