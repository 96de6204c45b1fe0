// The form of every act of the operator's: a button, a dialog that says what it will do, one confirmation, and what it did.
import { createContext, type FormEvent, type ReactNode, useContext, useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { Failed } from '../ui/states.tsx'
import { type ActRoute, type BodyOf, type Did, type ParamOf, placeOf, useAct } from './admin.ts'

/** A field of the dialog; its text goes into the body under `name` unless it is empty. */
export interface ActField<Name extends string = string> {
  name: Name
  label: string
  required?: boolean
  placeholder?: string
  value?: string
  choices?: readonly (readonly [value: string, label: string])[]
  /** From the text to what the route takes. */
  read?: (text: string) => unknown
}

/** A field of that act's body. */
export type FieldOf<Route extends ActRoute> = ActField<keyof BodyOf<Route> & string>

interface Wording {
  label: string
  /** Text of the dialog: the effect of the act. */
  says: ReactNode
  danger?: boolean
}

type ActProps<Route extends ActRoute> = Wording & {
  /** The route as the document names it. */
  act: Route
  fields?: readonly FieldOf<Route>[]
  /** Fixed part of the body. */
  body?: Partial<BodyOf<Route>>
  /** Text for the result. */
  did: (answer: Did<Route>) => ReactNode
  main?: boolean
} & ([ParamOf<Route>] extends [never] ? { params?: never } : { params: Readonly<Record<ParamOf<Route>, string>> })

/** An act that was asked for: whichever it is. */
interface Asked extends Wording {
  path: string
  fields: readonly ActField[]
  body: object
  did: (answer: unknown) => ReactNode
}

/** Opens an act's dialog. It belongs to the console, so that it stays when what it was about leaves its list. */
const Ask = createContext<(act: Asked) => void>(() => undefined)

/** Around the console's sections. */
export function Acts({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<Asked | null>(null)
  return (
    <Ask value={setAsked}>
      {children}
      <Dialog open={asked !== null} onClose={() => setAsked(null)} title={asked?.label ?? ''}>
        {asked && <ActForm {...asked} close={() => setAsked(null)} />}
      </Dialog>
    </Ask>
  )
}

export function ActButton<Route extends ActRoute>(props: ActProps<Route>) {
  const { label, says, danger = false, main = false, act, params = {}, fields = [], body = {}, did } = props
  const ask = useContext(Ask)
  const asked = { label, says, danger, path: placeOf(act, params), fields, body }
  return (
    <button
      type="button"
      className={`button${danger ? ' danger' : ''}${main ? ' main' : ''}`}
      onClick={() => ask({ ...asked, did: (answer) => did(answer as Did<Route>) })}
    >
      {label}…
    </button>
  )
}

const REASON: ActField = { name: 'reason', label: 'Reason, for the audit log', placeholder: 'may be left out' }

function ActForm({ label, says, path, fields, body, did, danger, close }: Asked & { close: () => void }) {
  const act = useAct<object>()
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
