// The entry: providers, then the pages.
import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { checkAnnouncements } from './announcements.ts'
import { App } from './app.tsx'
import { queries } from './ledger.ts'
import { keepReferral } from './referral.ts'
import './styles/index.css'
import { Boundary } from './ui/boundary.tsx'
import { keepFocus } from './ui/keep-focus.ts'
import { Bottom, Top } from './ui/layout.tsx'
import { surviveMovedNodes } from './ui/moved.ts'
import { words } from './words/wallet.ts'

surviveMovedNodes()
checkAnnouncements(words.unnamed)
keepReferral()
keepFocus()
/** On a document, which the service wrote, a link leaves the page. */
const useDocument = (): [string, (path: string) => void] => [
  window.location.pathname,
  (path) => window.location.assign(path),
]

function render(id: string, children: ReactNode): void {
  const place = document.getElementById(id)
  if (!place) throw new Error(`the page has no ${id}`)
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Boundary>{children}</Boundary>
      </QueryClientProvider>
    </StrictMode>,
  )
}

if (document.querySelector('.document')) {
  render(
    'top',
    <Router hook={useDocument}>
      <Top />
    </Router>,
  )
  render(
    'bottom',
    <Router hook={useDocument}>
      <Bottom />
    </Router>,
  )
} else render('root', <App />)
