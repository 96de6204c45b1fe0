// The referral codes that calldata names, by api/openapi.yaml (getReferral) and ERC-8021, schema 0: from the end of the calldata a marker of 16 bytes, the
// schema's byte, a byte with the length of the codes, and the codes in ASCII with commas between them.

// Choices in what the documents leave open:
// - A code is one visible ASCII character or more. A suffix with any other text between commas, or none, is malformed and names nothing.
// - A suffix that promises more bytes than there are names nothing either.
// - A code is the same in capitals, registered or not, so it is kept in small letters.

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
  const small = (one: string) => (one >= 'A' && one <= 'Z' ? String.fromCharCode(one.charCodeAt(0) + 32) : one)
  return codes.every(isVisible) ? codes.map((code) => [...code].map(small).join('')) : []
}
