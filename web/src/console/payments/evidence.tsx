// A verdict: a sentence about what the rule found, with the numbers beside it.
import { sentenceCase } from '../../format.ts'
import { Time } from '../../ui/facts.tsx'
import type { Shape } from '../admin.ts'
import { Pairs } from '../record.tsx'
import { inWords, SERVICE } from '../values.ts'
import { sentenceOf, type Tiers } from './sentences.ts'

export function Evidence({ verdict, tiers }: { verdict: Shape<'PastVerdict'>; tiers: Tiers }) {
  const { note } = verdict.evidence
  return (
    <div className="evidence">
      <p>
        <strong title={verdict.reason ?? undefined}>{sentenceCase(inWords(verdict.reason ?? verdict.verdict))}</strong>
        {verdict.decidedBy === SERVICE ? ', found automatically' : ` by ${verdict.decidedBy}`},{' '}
        <Time at={verdict.decidedAt} />
        {verdict.withdrawnAt && (
          <>
            , withdrawn by {verdict.withdrawnBy}, <Time at={verdict.withdrawnAt} />
          </>
        )}
      </p>
      <p>{sentenceOf(verdict, tiers)}</p>
      {typeof note === 'string' && note !== '' && <p className="whole">“{note}”</p>}
      <details>
        <summary>{verdict.decidedBy === SERVICE ? 'What the rule saw' : 'On record'}</summary>
        <Pairs of={verdict.evidence} />
      </details>
    </div>
  )
}
