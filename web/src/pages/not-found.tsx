import { Link } from 'wouter'
import { Page } from '../ui/page.tsx'
import { Search } from '../ui/search.tsx'
import { ui } from '../words/ui.ts'

export function NotFound() {
  return (
    <Page title={ui.notFound.title} lead={ui.notFound.lead}>
      <div className="one-column">
        <Search id="search-page" />
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
