// Referral codes in calldata, commissions, and the sums that need a second person: docs/ADMIN.md (Referral codes, A second person), api/openapi.yaml
// (getReferral), the table `referral_codes`, and ERC-8021, schema 0: from the end of the calldata a marker of 16 bytes, the schema's byte, a byte with
// the length of the codes, and the codes in ASCII with commas between them.
//
// Choices in what the documents leave open:
// - A code that no version names, or that is not open, is passed over; the next one may earn.
// - A text between commas that cannot be a code of the ledger (a-z, 0-9, _ and -, 1 to 32) is passed over; the others of the suffix stay.
// - A suffix that promises more bytes than there are is none.

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
  return text.split(',').filter((one) => /^[a-z0-9_-]{1,32}$/.test(one))
}

export interface CodeVersion {
  code: string
  version: number
  payee: string
  commissionBps: number
  opensAt: number | null
  closesAt: number | null
  fromBlock: number
}

/** The version of a code in force in a block, if it is open there. */
export function openCode(codes: CodeVersion[], code: string, block: { number: number; time: number }) {
  let found: CodeVersion | undefined
  for (const one of codes) {
    if (one.code !== code || one.fromBlock > block.number) continue
    if (found === undefined || one.version > found.version) found = one
  }
  if (found === undefined) return undefined
  if (found.opensAt !== null && block.time < found.opensAt) return undefined
  if (found.closesAt !== null && block.time >= found.closesAt) return undefined
  return found
}

/** What a payment earns, once it is a node: the first open code counts. If its payee is the payer, none does. */
export function commission(
  codes: CodeVersion[],
  payment: { codes: string[]; payer: string; valueWei: bigint; block: { number: number; time: number } },
): { code: string; payee: string; wei: bigint } | null {
  for (const code of payment.codes) {
    const open = openCode(codes, code, payment.block)
    if (open === undefined) continue
    if (open.payee.toLowerCase() === payment.payer.toLowerCase()) return null
    return { code, payee: open.payee, wei: (payment.valueWei * BigInt(open.commissionBps)) / 10_000n }
  }
  return null
}

/** What several payments count for a second person: a payment without a tier counts as its value, or as the named tier's highest price if that is more. */
export function sumForSecondPerson(
  payments: { valueWei: bigint; tierId: string | null }[],
  named: { highestPriceWei: bigint } | null,
): bigint {
  let sum = 0n
  for (const one of payments) {
    let counts = one.valueWei
    if (one.tierId === null && named !== null && named.highestPriceWei > counts) counts = named.highestPriceWei
    sum += counts
  }
  return sum
}

/** Whether a sum waits for a second person: above the rule's amount. Null: the rule is off. */
export const waitsForSecond = (sumWei: bigint, aboveWei: bigint | null): boolean =>
  aboveWei !== null && sumWei > aboveWei
