// The questions of a first buyer, with their answers.
import { Section } from '../../ui/page.tsx'
import { words as t } from '../../words/questions.ts'

export function Questions() {
  return (
    <Section title={t.questions}>
      <dl className="asked">
        {t.asked.map(([question, answer]) => (
          <div key={question}>
            <dt>{question}</dt>
            <dd>{answer}</dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}
