// The frame around every page: its title, its parts, and their headings in order.
import { createContext, Fragment, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { useSite } from '../site.ts'
import { Boundary } from './boundary.tsx'

interface PageProps {
  /** The page's title; null means the sale's own name. */
  title: string | null
  /** The heading, if it differs from the title; null if the content has its own. */
  heading?: string | null
  /** A sentence on what the page shows. */
  lead?: ReactNode
  /** The link to the page above this one. */
  back?: ReactNode
  children: ReactNode
}

/** The heading of the page, which a part of the same name does not repeat, and the place beside it for that part's buttons. */
const Head = createContext<{ heading: string | null; aside: HTMLElement | null }>({ heading: null, aside: null })

/** A page. Its title is also the document's title. Its heading takes the focus on navigation, so screen readers announce it. */
export function Page({ title, heading, lead, back, children }: PageProps) {
  const { name } = useSite()
  const [aside, setAside] = useState<HTMLElement | null>(null)
  useEffect(() => {
    document.title = title === null ? name : `${title} · ${name}`
  }, [title, name])
  return (
    <>
      {heading !== null && (
        <div className="page-head">
          {back && <p className="back">{back}</p>}
          <h1 tabIndex={-1}>{heading ?? title}</h1>
          {lead && <p className="lead">{lead}</p>}
          <div className="buttons" ref={setAside} />
        </div>
      )}
      <Head value={{ heading: heading === undefined ? title : heading, aside }}>{children}</Head>
    </>
  )
}

/** Puts the page's current step into the document's title until it changes; `null` restores the page's own. */
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
  /** True if what follows shows it to those who see. */
  isHeardOnly?: boolean
  /** True for a step that replaces a step that had the focus. Its heading then takes the focus. */
  takesFocus?: boolean
  children: ReactNode
}

/** A part of a page with its own heading. */
export function Section({ title, aside, isHeardOnly = false, takesFocus = false, children }: SectionProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const head = useContext(Head)
  const isNamed = head.heading === title
  useEffect(() => {
    if (takesFocus) (heading.current ?? document.querySelector('h1'))?.focus()
  }, [takesFocus])
  return (
    <section className="card">
      {isNamed ? (
        head.aside && createPortal(aside, head.aside)
      ) : (
        <header className={isHeardOnly ? 'visually-hidden' : undefined}>
          <h2 ref={heading} tabIndex={takesFocus ? -1 : undefined}>
            {title}
          </h2>
          {aside && <div className="buttons">{aside}</div>}
        </header>
      )}
      <Boundary>{children}</Boundary>
    </section>
  )
}

/** Named facts in rows. Skips those that are undefined or false. */
export function Facts({ of, className = 'facts' }: { of: Readonly<Record<string, ReactNode>>; className?: string }) {
  return (
    <dl className={className}>
      {Object.entries(of).map(
        ([name, value]) =>
          value !== undefined &&
          value !== false && (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </Fragment>
          ),
      )}
    </dl>
  )
}

interface SummaryProps {
  /** The figure that the page is about, with its name. */
  name: string
  children: ReactNode
  note?: ReactNode
  /** A button beside the figure, on a phone below it. */
  act?: ReactNode
  /** The smaller figures beside it. */
  of: Readonly<Record<string, ReactNode>>
}

/** One large figure, and smaller figures that explain it. */
export function Summary({ name, children, note, act, of }: SummaryProps) {
  return (
    <dl className="card summary">
      <div className="lead-figure">
        <dt>{name}</dt>
        <dd className="balance">{children}</dd>
        {act && <dd className="act">{act}</dd>}
        {note && <dd className="note">{note}</dd>}
      </div>
      {Object.entries(of).map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
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

/** Puts children into another part of the page, once it is there. */
export const Into = ({ place, children }: { place: HTMLElement | null; children: ReactNode }) =>
  place && createPortal(children, place)
