// Links to the operator's block explorer, if the service names one.
import type { ReactNode } from 'react'
import { figure } from '../format.ts'
import { type Explored, useSite } from '../site.ts'
import { fill } from '../words/message.ts'
import { ui } from '../words/ui.ts'

/** Links its children. Without an explorer, shows them unlinked. */
export function InExplorer({ kind, id, children }: { kind: Explored; id: string; children: ReactNode }) {
  const href = useSite().explorer(kind, id)
  if (href === null) return children
  return <OutLink href={href}>{children}</OutLink>
}

/** A link that leaves these pages, in a new tab. */
export function OutLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} className="out" target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

/** A block by its number. */
export function Block({ of }: { of: number | bigint | null }) {
  if (of === null) return <>{ui.facts.unknownBlock}</>
  return (
    <InExplorer kind="block" id={String(of)}>
      {fill(ui.facts.block, { number: figure(of) })}
    </InExplorer>
  )
}
