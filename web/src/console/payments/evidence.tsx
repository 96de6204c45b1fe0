// A verdict: a sentence about what the rule found, with the numbers beside it.
import { Time } from '../../ui/facts.tsx'
import type { PastVerdict } from '../admin.ts'
import { Pairs } from '../record.tsx'
import { inWords } from '../values.ts'
import { sentenceOf, type Tiers } from './sentences.ts'

export function Evidence({ verdict, tiers }: { verdict: PastVerdict; tiers: Tiers }) {
  const { note } = verdict.evidence
  return (
    <div className="evidence">
      <p>
        <strong title={verdict.reason ?? undefined}>{inWords(verdict.reason ?? verdict.verdict)}</strong> by{' '}
        {verdict.decidedBy}, <Time at={verdict.decidedAt} />
        {verdict.withdrawnAt && (
          <>
            , withdrawn by {verdict.withdrawnBy}, <Time at={verdict.withdrawnAt} />
          </>
        )}
      </p>
      <p>{sentenceOf(verdict, tiers)}</p>
      {typeof note === 'string' && note !== '' && <p className="whole">“{note}”</p>}
      <details>
        <summary>What the rule saw</summary>
        <Pairs of={verdict.evidence} />
      </details>
    </div>
  )
}
