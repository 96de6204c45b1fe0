import { Link } from 'wouter'
import { Page } from '../ui/page.tsx'
import { ui } from '../words/ui.ts'

export function NotFound() {
  return (
    <Page title={ui.notFound.title} heading={null}>
      <div className="empty">
        <h1 tabIndex={-1}>{ui.notFound.title}</h1>
        <p>{ui.notFound.lead}</p>
        <p className="buttons">
          <Link href="/" className="button main">
            {ui.notFound.home}
          </Link>
          <Link href="/buy" className="button">
            {ui.notFound.buy}
          </Link>
        </p>
      </div>
    </Page>
  )
}
