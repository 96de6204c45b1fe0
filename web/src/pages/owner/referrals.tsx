// The referral codes that pay the signed-in wallet: sales, and what is due and paid. Reveals nothing about buyers.
import { useQuery } from '@tanstack/react-query'
import { ledger } from '../../ledger.ts'
import { Amount, Time } from '../../ui/facts.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { fill } from '../../words/message.ts'
import { words } from '../../words/owner.ts'

const t = words.referrals

/** Renders nothing for a wallet that no code pays. */
export function Referrals({ owner }: { owner: string }) {
  const { data } = useQuery({
    queryKey: ['me', 'referrals', owner],
    queryFn: ({ signal }) => ledger.getMyReferrals({ signal }),
  })
  if (!data || data.length === 0) return null
  return (
    <Section title={t.title}>
      <div className="stack">
        {data.map((of) => (
          <Facts
            key={of.code}
            of={{
              [t.code]: <span translate="no">{of.code}</span>,
              [t.share]: fill(of.open ? t.open : t.closed, { percent: of.commissionBps / 100 }),
              ...(of.closesAt !== null && { [t.closes]: <Time at={of.closesAt} /> }),
              [t.sales]: String(of.count),
              [t.earned]: <Amount wei={of.earnedWei - of.reversedWei} />,
              ...(of.waitingWei > 0n && { [t.waiting]: <Amount wei={of.waitingWei} /> }),
              [t.due]: <Amount wei={of.dueWei} />,
              [t.paid]: <Amount wei={of.paidWei} />,
            }}
          />
        ))}
        <p className="note">{t.note}</p>
      </div>
    </Section>
  )
}
