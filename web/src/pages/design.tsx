// The design of these pages, shown with their own parts: what tokens.css holds, and what is made of it.
import { type ReactNode, useLayoutEffect, useState } from 'react'
import { Amount, Mark, type Tone, Unknown } from '../ui/facts.tsx'
import { Figure, Page, Section } from '../ui/page.tsx'
import { Empty, Failed } from '../ui/states.tsx'

const TYPES: readonly (readonly [role: string, use: string])[] = [
  ['display', 'Headings of pages, prices'],
  ['figure', 'Figures in tiles, the end of a purchase'],
  ['title', 'Headings of sections'],
  ['body', 'Everything that is read'],
  ['small', 'Notes, labels, dollars beside ether'],
  ['tiny', 'Marks, headings of tables'],
]
const SPACES = ['hair', 'tiny', 'small', 'snug', 'base', 'wide', 'far', 'vast'] as const
const COLORS: readonly (readonly [role: string, use: string])[] = [
  ['ground', 'behind everything'],
  ['card', 'sections and tiles'],
  ['raised', 'buttons and dialogs'],
  ['sunk', 'switches, places of what loads'],
  ['line', 'borders'],
  ['line-strong', 'borders of fields'],
  ['ink', 'text'],
  ['ink-soft', 'what stands back'],
  ['accent', 'links, the page one is on'],
  ['accent-ground', 'the one act of a section'],
  ['accent-soft', 'notices'],
  ['good', 'holds, passes, is paid'],
  ['warn', 'waits, or could not be checked'],
  ['bad', 'fails, differs, is short'],
]
const TONES: readonly (readonly [Tone, string])[] = [
  ['good', 'minted'],
  ['warn', 'held'],
  ['bad', 'differs'],
  ['calm', 'in a block'],
]

export function Design() {
  return (
    <Page
      title="Design"
      lead="Six sizes of type, eight distances, and colours by their role: nothing on these pages has any other. A sale’s own colour takes the place of the accent, moved until it can be read."
    >
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
    <Section title="Type">
      <dl className="samples">
        {TYPES.map(([role, use]) => (
          <Sample key={role} token={`--type-${role}`} name={role}>
            <span className={`type-${role}`}>{use}</span>
          </Sample>
        ))}
      </dl>
    </Section>
  )
}

function Spaces() {
  return (
    <Section title="Space">
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
    <Section title="Colour">
      <ul className="swatches">
        {COLORS.map(([role, use]) => (
          <li key={role}>
            <span className="swatch" style={{ background: `var(--${role})` }} />
            <span>
              <strong>{role}</strong>
              <br />
              <span className="note">{use}</span>
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Facts() {
  return (
    <Section title="Facts">
      <div className="stack">
        <dl className="tiles">
          <Figure name="An amount" note="six decimals; the rest on demand">
            <Amount wei={1_234_567_890_123_456_789n} />
          </Figure>
          <Figure name="A reading that failed" note="never zero, never green">
            <Unknown />
          </Figure>
        </dl>
        <p className="buttons">
          {TONES.map(([tone, word]) => (
            <Mark key={tone} tone={tone}>
              {word}
            </Mark>
          ))}
        </p>
      </div>
    </Section>
  )
}

function Acts() {
  return (
    <Section title="Acts">
      <div className="stack">
        <p className="buttons">
          <button type="button" className="button main">
            The one act
          </button>
          <button type="button" className="button">
            Another
          </button>
          <button type="button" className="button quiet">
            Aside
          </button>
          <button type="button" className="button danger">
            Cannot be undone
          </button>
          <button type="button" className="button" disabled>
            Not now
          </button>
        </p>
        <label className="field narrow">
          <span>A field</span>
          <input placeholder="0x…" />
          <span className="error">What is wrong with it, and what would be right.</span>
        </label>
      </div>
    </Section>
  )
}

function States() {
  return (
    <Section title="States">
      <div className="stack">
        <div className="waiting" aria-hidden="true">
          <div className="line" />
          <div className="line" />
        </div>
        <Empty title="Nothing yet.">What would put something here.</Empty>
        <p className="notice">What one should know.</p>
        <p className="notice warn">What waits, or needs a look.</p>
        <p className="notice good">What has come to its end.</p>
        <Failed error={new Error('What failed, in a sentence, with a way to try again.')} retry={() => undefined} />
        <p className="note">
          One thing moves: the sign of a node that has come. Without motion for those who ask for less.
        </p>
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
