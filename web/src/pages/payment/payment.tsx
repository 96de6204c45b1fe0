// One payment, by its transaction's hash: its state, updated as long as the page is open.
import { useParams } from 'wouter'
import { HASH } from '../../format.ts'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { words } from '../../words/payment.ts'
import { readIntent } from './intent.ts'
import { PaymentSteps } from './steps.tsx'

export function PaymentPage() {
  const { hash } = useParams<{ hash: string }>()
  const txHash = hash.toLowerCase()
  const intent = readIntent()
  return (
    <Page title={words.title} heading={HASH.test(txHash) ? null : words.title}>
      {HASH.test(txHash) ? (
        <div className="one-column wider">
          <section className="card">
            <PaymentSteps
              key={txHash}
              txHash={txHash}
              payer={intent?.sent.includes(txHash) ? intent.payer : undefined}
              isPage
            />
          </section>
        </div>
      ) : (
        <Empty title={words.noHash} />
      )}
    </Page>
  )
}
