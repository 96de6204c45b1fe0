// Links to the operator's block explorer, where the service names one.
import type { ReactNode } from 'react'
import { type Explored, useSite } from '../site.ts'

/** Links what it shows; without an explorer it shows the same unlinked. */
export function InExplorer({ kind, id, children }: { kind: Explored; id: string; children: ReactNode }) {
  const href = useSite().explorer(kind, id)
  if (href === null) return children
  return <OutLink href={href}>{children}</OutLink>
}

/** A link that leaves these pages, in a tab of its own. */
export function OutLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} className="out" target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

/** A block by its number. */
export function Block({ of }: { of: number | bigint | null }) {
  if (of === null) return <>block ?</>
  return (
    <InExplorer kind="block" id={String(of)}>
      block {of.toLocaleString('en-US')}
    </InExplorer>
  )
}
