// The referral code with which the buyer came, and whether their payment will include it. One decision is both what the page shows and what it sends.
import { LedgerError, type Quote } from '@node-ledger/client'
import { carries } from '@node-ledger/client/viem'
import { useQuery } from '@tanstack/react-query'
import { ledger, notBefore } from '../../ledger.ts'
import { useReferral } from '../../referral.ts'
import type { ConnectedWallet } from '../../wallet/use-wallet.ts'
import { rich } from '../../words/message.ts'
import { words } from '../../words/paying.ts'
import { Code, OfCode } from './came-with.tsx'

const t = words.referral

/** A wallet that lacks the gas for a code may get it. */
const EVERY_MS = 15_000

/** How the buyer pays. `mayGoTogether`: true if the wallet may send all transfers in one transaction. */
interface Way {
  quote: Quote
  wallet: ConnectedWallet | null
  mayGoTogether: boolean
}

export interface Referral {
  code: string
  /** What becomes of the code: one of the sentences. Null while we do not know. */
  fate: keyof typeof t | null
  /** The code, if the payment is to include it. */
  sent: string | undefined
}

/** The current code and its fate; null if there is no code. `way`: null for a payment that is not made here, which cannot name a code. */
export function useReferred(way: Way | null): Referral | null {
  const code = useReferral()
  const wallet = way?.wallet?.chainId === way?.quote.chainId ? way?.wallet : null
  const { data, error, isPending } = useQuery({
    queryKey: ['referral', code],
    queryFn: ({ signal }) => ledger.getReferral(code ?? '', { signal }),
    enabled: code !== null && way !== null,
    staleTime: 60_000,
  })
  const carryCheck = useQuery({
    queryKey: ['carries', code, wallet?.address, way?.quote.paymentAddress, String(way?.quote.priceWei)],
    queryFn: async () => {
      if (!wallet || !way || code === null) return null
      const { chainId, paymentAddress: to, priceWei: valueWei } = way.quote
      return (await carries(await wallet.open(), { chainId, to, valueWei }, code)) !== null
    },
    enabled: Boolean(wallet) && code !== null,
    refetchInterval: notBefore(() => EVERY_MS),
  })
  if (code === null) return null
  const isUnknown = (error instanceof LedgerError && error.status === 404) || data?.open === false
  const fate = fateOf()
  return { code, fate, sent: fate === null || fate === 'by' || fate === 'unlessTogether' ? code : undefined }

  function fateOf(): Referral['fate'] {
    if (way === null) return 'byHand'
    if (isUnknown) return 'unknown'
    if (data && data.payee === way.wallet?.address) return 'own'
    if (carryCheck.data === false) return 'cannot'
    if (isPending || !carryCheck.data) return null
    return way.mayGoTogether ? 'unlessTogether' : 'by'
  }
}

/** Shows what becomes of the code. Renders nothing while we do not know, or if there is no code. */
export function Referred({ referral }: { referral: Referral | null }) {
  if (!referral?.fate) return null
  return <OfCode>{rich(t[referral.fate], { code: <Code of={referral.code} /> })}</OfCode>
}
