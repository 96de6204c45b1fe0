// The way to the page on which a wallet signs in.
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { isFramed } from '../frame.ts'
import { ui } from '../words/ui.ts'

/** Leads to it. A frame has no session: there it opens a tab of its own. */
export function SignInLink({ children }: { children: ReactNode }) {
  if (!isFramed) return <Link href="/owner">{children}</Link>
  return (
    <a href="/owner" target="_blank" rel="noopener">
      {children} {ui.signIn.inTab}
    </a>
  )
}
