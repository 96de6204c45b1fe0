import { Link } from 'wouter'
import { Page } from '../ui/page.tsx'
import { ui } from '../words/ui.ts'

export function NotFound() {
  return (
    <Page title={ui.notFound.title} lead={ui.notFound.lead}>
      <p>
        <Link href="/">{ui.notFound.home}</Link>
      </p>
    </Page>
  )
}
