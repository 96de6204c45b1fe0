// The design of these pages, shown with their own parts: what tokens.css holds, and what is made of it.
import { type ReactNode, useLayoutEffect, useState } from 'react'
import { Amount, Mark, type Tone, Unknown } from '../ui/facts.tsx'
import { Figure, Page, Section } from '../ui/page.tsx'
import { Empty, Failed } from '../ui/states.tsx'
import { words } from '../words/design.ts'

const TYPES = ['display', 'figure', 'title', 'body', 'small', 'tiny'] as const
const SPACES = ['hair', 'tiny', 'small', 'snug', 'base', 'wide', 'far', 'vast'] as const
const COLORS = Object.keys(words.colours) as (keyof typeof words.colours)[]
const TONES: readonly Tone[] = ['good', 'warn', 'bad', 'calm']

export function Design() {
  return (
    <Page title={words.title} lead={words.lead}>
      <Types />
      <Spaces />
      <Colors />
      <Facts />
      <Acts />
      <States />
    </Page>
  )
}

function Types() {
  return (
    <Section title={words.type}>
      <dl className="samples">
        {TYPES.map((role) => (
          <Sample key={role} token={`--type-${role}`} name={role}>
            <span className={`type-${role}`}>{words.types[role]}</span>
          </Sample>
        ))}
      </dl>
    </Section>
  )
}

function Spaces() {
  return (
    <Section title={words.space}>
      <dl className="samples">
        {SPACES.map((role) => (
          <Sample key={role} token={`--space-${role}`} name={role}>
            <span className="distance" style={{ width: `var(--space-${role})` }} />
          </Sample>
        ))}
      </dl>
    </Section>
  )
}

function Colors() {
  return (
    <Section title={words.colour}>
      <ul className="swatches">
        {COLORS.map((role) => (
          <li key={role}>
            <span className="swatch" style={{ background: `var(--${role})` }} />
            <span>
              <strong>{role}</strong>
              <br />
              <span className="note">{words.colours[role]}</span>
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Facts() {
  return (
    <Section title={words.facts}>
      <div className="stack">
        <dl className="tiles">
          <Figure name={words.amount} note={words.decimals}>
            <Amount wei={1_234_567_890_123_456_789n} />
          </Figure>
          <Figure name={words.failedReading} note={words.neverZero}>
            <Unknown />
          </Figure>
        </dl>
        <p className="buttons">
          {TONES.map((tone) => (
            <Mark key={tone} tone={tone}>
              {words.tones[tone]}
            </Mark>
          ))}
        </p>
      </div>
    </Section>
  )
}

function Acts() {
  return (
    <Section title={words.acts}>
      <div className="stack">
        <p className="buttons">
          <button type="button" className="button main">
            {words.main}
          </button>
          <button type="button" className="button">
            {words.another}
          </button>
          <button type="button" className="button quiet">
            {words.aside}
          </button>
          <button type="button" className="button danger">
            {words.danger}
          </button>
          <button type="button" className="button" disabled>
            {words.disabled}
          </button>
        </p>
        <label className="field narrow">
          <span>{words.field}</span>
          <input placeholder="0x…" />
          <span className="error">{words.wrong}</span>
        </label>
      </div>
    </Section>
  )
}

function States() {
  return (
    <Section title={words.states}>
      <div className="stack">
        <div className="waiting" aria-hidden="true">
          <div className="line" />
          <div className="line" />
        </div>
        <Empty title={words.nothing}>{words.wouldPut}</Empty>
        <p className="notice">{words.notice}</p>
        <p className="notice warn">{words.waits}</p>
        <p className="notice good">{words.ended}</p>
        <Failed error={new Error(words.failed)} retry={() => undefined} />
        <p className="note">{words.motion}</p>
      </div>
    </Section>
  )
}

/** A token with its value as it is now. */
function Sample({ token, name, children }: { token: string; name: string; children: ReactNode }) {
  const [value, setValue] = useState('')
  useLayoutEffect(() => setValue(getComputedStyle(document.documentElement).getPropertyValue(token)), [token])
  return (
    <div className="row">
      <dt>
        {name} <span className="note">{value}</span>
      </dt>
      <dd>{children}</dd>
    </div>
  )
}
