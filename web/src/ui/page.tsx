// The frame around every page: what the page is called, its parts, and their headings in order.
import { Fragment, type ReactNode, useEffect, useRef } from 'react'
import { useSite } from '../site.ts'
import { Boundary } from './boundary.tsx'

interface PageProps {
  /** Null: the sale's own name. */
  title: string | null
  /** What its heading says in place of the title. */
  heading?: string
  /** A sentence on what the page shows. */
  lead?: ReactNode
  children: ReactNode
}

/** A page. Its title is the document's too, and takes the focus when one navigates here, so that readers announce it. */
export function Page({ title, heading, lead, children }: PageProps) {
  const { name } = useSite()
  useEffect(() => {
    document.title = title === null ? name : `${title} · ${name}`
  }, [title, name])
  return (
    <>
      <div className="page-head">
        <h1 tabIndex={-1}>{heading ?? title}</h1>
        {lead && <p className="lead">{lead}</p>}
      </div>
      {children}
    </>
  )
}

/** Puts what a step of the page has come to into the document's title, for as long as it is so; `null`: the page's own. */
export function useStepTitle(step: string | null): void {
  useEffect(() => {
    if (step === null) return
    const own = document.title
    document.title = `${step} · ${own}`
    return () => {
      document.title = own
    }
  }, [step])
}

interface SectionProps {
  title: string
  aside?: ReactNode
  /** True for a step that follows one that is gone, and the focus with it: its heading takes it. */
  takesFocus?: boolean
  children: ReactNode
}

/** A part of a page under a heading of its own. */
export function Section({ title, aside, takesFocus = false, children }: SectionProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (takesFocus) heading.current?.focus()
  }, [takesFocus])
  return (
    <section className="card">
      <header>
        <h2 ref={heading} tabIndex={takesFocus ? -1 : undefined}>
          {title}
        </h2>
        {aside}
      </header>
      <Boundary>{children}</Boundary>
    </section>
  )
}

/** Facts by their names, in rows. What is undefined is left out. */
export function Facts({ of, className = 'facts' }: { of: Readonly<Record<string, ReactNode>>; className?: string }) {
  return (
    <dl className={className}>
      {Object.entries(of).map(
        ([name, value]) =>
          value !== undefined && (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </Fragment>
          ),
      )}
    </dl>
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
