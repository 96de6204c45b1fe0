// The link to the page that signs a wallet in.
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { isFramed } from '../frame.ts'
import { ui } from '../words/ui.ts'

/** Links to the sign-in page. In a frame, which has no session, it opens a new tab. */
export function SignInLink({ children }: { children: ReactNode }) {
  if (!isFramed) return <Link href="/owner">{children}</Link>
  return (
    <a href="/owner" target="_blank" rel="noopener">
      {children} {ui.signIn.inTab}
    </a>
  )
}
