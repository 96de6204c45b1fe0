// The entry: providers, then the pages.
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { checkAnnouncements } from './announcements.ts'
import { App } from './app.tsx'
import { queries } from './ledger.ts'
import { keepReferral } from './referral.ts'
import './styles/index.css'
import { Boundary } from './ui/boundary.tsx'
import { keepFocus } from './ui/keep-focus.ts'
import { surviveMovedNodes } from './ui/moved.ts'
import { words } from './words/wallet.ts'

surviveMovedNodes()
checkAnnouncements(words.unnamed)
keepReferral()
keepFocus()
const root = document.getElementById('root')
if (!root) throw new Error('the page has no root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Boundary>
        <App />
      </Boundary>
    </QueryClientProvider>
  </StrictMode>,
)
