// Copies a text and confirms that, on screen and to screen readers.
import { type ReactNode, useEffect, useState } from 'react'
import { fill } from '../words/message.ts'
import { ui } from '../words/ui.ts'
import { Facts } from './page.tsx'

interface CopyButtonProps {
  text: string
  what: string
  className?: string
  /** What the button reads, if its sign is not enough. */
  children?: ReactNode
}

export function CopyButton({ text, what, className = 'copy', children }: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), 1_500)
    return () => clearTimeout(timer)
  }, [state])
  const copy = () =>
    copyText(text).then(
      () => setState('copied'),
      () => setState('failed'),
    )
  const label = { idle: fill(ui.copy.copy, { what }), copied: ui.copy.copied, failed: ui.copy.failed }[state]
  return (
    <button type="button" className={`${className} ${state}`} onClick={copy} aria-label={label} title={label}>
      {children}
      <svg className="sheets" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        {state === 'copied' ? <path d="M3 8.5l3.2 3.2L13 5" /> : <path d="M6 2.5h6.5V10M3.5 5.5H10v8H3.5z" />}
      </svg>
      <span role="status" className="visually-hidden">
        {state === 'idle' ? '' : label}
      </span>
    </button>
  )
}

/** Copies a text. Without TLS a browser gives pages no clipboard, but can still copy a selection. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  // Placed inside an open dialog, if there is one, because nothing outside it can take the focus.
  const place = document.querySelector('dialog[open]') ?? document.body
  place.append(field)
  field.select()
  const isDone = document.execCommand('copy')
  field.remove()
  if (!isDone) throw new Error('not copied')
}

/** A fact to enter elsewhere. `value` is what the button copies; null for what is chosen there, not entered. */
export type CopyRow = readonly [name: string, text: string, value: string | null]

/** Facts to enter elsewhere, each with a button that copies its value. */
export function CopyRows({ rows }: { rows: readonly CopyRow[] }) {
  return (
    <Facts
      className="facts copied"
      of={Object.fromEntries(
        rows.map(([name, text, value]) => [
          name,
          value === null ? text : <Copied key={name} {...{ name, text, value }} />,
        ]),
      )}
    />
  )
}

function Copied({ name, text, value }: { name: string; text: string; value: string }) {
  return (
    <>
      <code translate="no">{text}</code> <CopyButton text={value} what={name.toLowerCase()} />
    </>
  )
}
