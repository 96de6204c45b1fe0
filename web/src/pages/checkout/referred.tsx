// The referral code that a payment will carry, shown before the buyer pays. They may remove it.
import { LedgerError } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import { ledger } from '../../ledger.ts'
import { removeReferral, useReferral } from '../../referral.ts'
import { words } from '../../words/checkout.ts'
import { rich } from '../../words/message.ts'

const t = words.referral

/**
 * The current code. `usable`: the code if a payment may include it. `isUnknown`: true if the page must say that it is
 * not valid.
 */
export function useReferred(): { code: string | null; usable: string | undefined; isUnknown: boolean } {
  const code = useReferral()
  const { data, error } = useQuery({
    queryKey: ['referral', code],
    queryFn: ({ signal }) => ledger.getReferral(code ?? '', { signal }),
    enabled: code !== null,
    staleTime: 60_000,
  })
  const isUnknown = (error instanceof LedgerError && error.status === 404) || data?.open === false
  return { code, usable: code !== null && !isUnknown ? code : undefined, isUnknown }
}

/** Says which code is in effect. Renders nothing if there is no code. */
export function Referred() {
  const { code, isUnknown } = useReferred()
  if (code === null) return null
  return (
    <p className="referred">
      <span>{rich(isUnknown ? t.unknown : t.by, { code: <strong translate="no">{code}</strong> })}</span>
      <button type="button" className="button quiet" onClick={removeReferral}>
        {t.remove}
      </button>
    </p>
  )
}
