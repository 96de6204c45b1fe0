import { Link } from 'wouter'
import { Page } from '../ui/page.tsx'

export function NotFound() {
  return (
    <Page title="No such page" lead="There is nothing at this address.">
      <p>
        <Link href="/">Go to the overview</Link>
      </p>
    </Page>
  )
}
