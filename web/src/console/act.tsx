// The form of every act of the operator's: a button, a dialog that says what it will do, one confirmation, and what it did.
import { createContext, type FormEvent, type ReactNode, useContext, useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { Failed } from '../ui/states.tsx'
import { useAct } from './admin.ts'

/** A field of the dialog; its text goes into the body under `name` unless it is empty. */
export interface ActField {
  name: string
  label: string
  required?: boolean
  placeholder?: string
  value?: string
  choices?: readonly (readonly [value: string, label: string])[]
  /** From the text to what the route takes. */
  read?: (text: string) => unknown
}

interface ActProps {
  label: string
  /** Text of the dialog: the effect of the act. */
  says: ReactNode
  path: string
  fields?: readonly ActField[]
  /** Fixed part of the body. */
  body?: object
  /** Text for the result. */
  did: (answer: Record<string, unknown>) => ReactNode
  danger?: boolean
  main?: boolean
}

/** Opens an act's dialog. It belongs to the console, so that it stays when what it was about leaves its list. */
const Ask = createContext<(act: ActProps) => void>(() => undefined)

/** Around the console's sections. */
export function Acts({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<ActProps | null>(null)
  return (
    <Ask value={setAsked}>
      {children}
      <Dialog open={asked !== null} onClose={() => setAsked(null)} title={asked?.label ?? ''}>
        {asked && <ActForm {...asked} close={() => setAsked(null)} />}
      </Dialog>
    </Ask>
  )
}

export function ActButton(props: ActProps) {
  const ask = useContext(Ask)
  return (
    <button
      type="button"
      className={`button${props.danger ? ' danger' : ''}${props.main ? ' main' : ''}`}
      onClick={() => ask(props)}
    >
      {props.label}…
    </button>
  )
}

const REASON: ActField = { name: 'reason', label: 'Reason, for the audit log', placeholder: 'may be left out' }

function ActForm({ label, says, path, fields = [], body, did, danger, close }: ActProps & { close: () => void }) {
  const act = useAct<Record<string, unknown>>()
  const all = fields.some(({ name }) => name === 'reason') ? fields : [...fields, REASON]
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const given = all.flatMap(({ name, read }) => {
      const text = String(form.get(name) ?? '').trim()
      return text === '' ? [] : [[name, read ? read(text) : text] as const]
    })
    act.mutate({ path, body: { ...body, ...Object.fromEntries(given) } })
  }
  if (act.data) {
    return (
      <div className="stack">
        <div className="notice good" role="status">
          {did(act.data)}
        </div>
        <button type="button" className="button" onClick={close}>
          Done
        </button>
      </div>
    )
  }
  return (
    <form className="stack" onSubmit={submit}>
      <div>{says}</div>
      {all.map((field) => (
        <div key={field.name} className="field">
          <label htmlFor={`act-${field.name}`}>{field.label}</label>
          <Control field={field} />
        </div>
      ))}
      {act.error && <Failed error={act.error} />}
      <div className="buttons">
        <button type="submit" className={danger ? 'button danger' : 'button main'} disabled={act.isPending}>
          {act.isPending ? 'Working…' : label}
        </button>
        <button type="button" className="button quiet" onClick={close}>
          Leave it
        </button>
      </div>
    </form>
  )
}

function Control({ field: { name, choices, required, placeholder, value } }: { field: ActField }) {
  const id = `act-${name}`
  if (choices) {
    return (
      <select id={id} name={name} required={required} defaultValue={value}>
        {choices.map(([choice, label]) => (
          <option key={choice} value={choice}>
            {label}
          </option>
        ))}
      </select>
    )
  }
  return <input {...{ id, name, required, placeholder }} defaultValue={value} autoComplete="off" spellCheck="false" />
}
