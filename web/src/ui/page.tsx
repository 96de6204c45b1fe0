// The frame around every page: what the page is called, its parts, and their headings in order.
import { type ReactNode, useEffect } from 'react'

interface PageProps {
  title: string
  /** A sentence on what the page shows. */
  lead?: ReactNode
  children: ReactNode
}

/** A page. Its title is the document's too, and takes the focus when one navigates here, so that readers announce it. */
export function Page({ title, lead, children }: PageProps) {
  useEffect(() => {
    document.title = title === 'Overview' ? 'Node Ledger' : `${title} · Node Ledger`
  }, [title])
  return (
    <>
      <div className="page-head">
        <h1 tabIndex={-1}>{title}</h1>
        {lead && <p className="lead">{lead}</p>}
      </div>
      {children}
    </>
  )
}

/** A part of a page under a heading of its own. */
export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className="card">
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}

/** A figure with its name. */
export function Figure({ name, children, note }: { name: string; children: ReactNode; note?: ReactNode }) {
  return (
    <div className="tile">
      <dt>{name}</dt>
      <dd>{children}</dd>
      {note && <dd className="note">{note}</dd>}
    </div>
  )
}
