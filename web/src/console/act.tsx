// The form of every act: a button, a dialog that says what it will do, one confirmation, and its result.
import { createContext, type FormEvent, type ReactNode, useContext, useState } from 'react'
import { ADDRESS, checksummed } from '../format.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Whole } from '../ui/facts.tsx'
import { Failed } from '../ui/states.tsx'
import { FormFields } from './act-fields.tsx'
import { type ActField, type Filled, fieldsOf, problemsOf, readForm } from './act-form.ts'
import {
  ACTS,
  type ActRoute,
  type BodyFieldOf,
  type Did,
  type FieldOf,
  isWaiting,
  lacking,
  type ParamOf,
  placeOf,
  useAct,
} from './admin.ts'

interface Wording {
  label: string
  /** The dialog's text: what the act does. */
  says: string
  danger?: boolean
}

type ActProps<Route extends ActRoute> = Wording & {
  /** The route, as the API document names it. */
  act: Route
  /** The fields to ask for, in addition to the reason. Default: all of the act's fields. */
  fields?: readonly FieldOf<Route>[]
  /** What only the page knows about a field. */
  more?: { readonly [Name in FieldOf<Route>]?: Partial<ActField> }
  /** The fixed part of the body. */
  body?: { readonly [Name in BodyFieldOf<Route>]?: string | number | boolean }
  /** What to show as the result. Default: the line that the act returns. */
  did?: (answer: Did<Route>) => ReactNode
  /** A warning about the filled-in form, shown before it is sent. */
  warns?: (texts: Filled) => ReactNode
  main?: boolean
} & ([ParamOf<Route>] extends [never] ? { params?: never } : { params: Readonly<Record<ParamOf<Route>, string>> })

/** An act whose dialog the operator opened, of any kind. */
interface Asked extends Wording {
  path: string
  fields: readonly ActField[]
  body: object
  did: (answer: unknown) => ReactNode
  warns: ((texts: Filled) => ReactNode) | undefined
}

/** Opens an act's dialog. The console owns the dialog, so it stays open if its row leaves the list. */
const OpenAct = createContext<(act: Asked) => void>(() => undefined)

/** Wraps the console's sections, and shows the open dialog. */
export function Acts({ children }: { children: ReactNode }) {
  const [openAct, setOpenAct] = useState<Asked | null>(null)
  return (
    <OpenAct value={setOpenAct}>
      {children}
      <Dialog open={openAct !== null} onClose={() => setOpenAct(null)} title={openAct?.label ?? ''}>
        {openAct && <ActForm {...openAct} close={() => setOpenAct(null)} />}
      </Dialog>
    </OpenAct>
  )
}

export function ActButton<Route extends ActRoute>(props: ActProps<Route>) {
  const { label, says, danger = false, main = false, act, params = {}, body = {}, did = itsLine, warns } = props
  const openDialog = useContext(OpenAct)
  const fields = fieldsOf(ACTS[act].fields, body, props.fields, props.more ?? {})
  const form = { label, says, danger, path: placeOf(act, params), fields, body, warns }
  const lacks = lacking(act)
  return (
    <button
      type="button"
      disabled={lacks !== null}
      className={main ? 'button main' : 'button'}
      onClick={() => openDialog({ ...form, did: (answer) => did(answer as Did<Route>) })}
    >
      {label}
      <Beyond lacks={lacks} />
    </button>
  )
}

/** The line that an act returns about its result. */
export const itsLine = ({ says }: { says: string }): ReactNode =>
  says.split('\n').map((line) => <p key={line}>{line}</p>)

/** The result of an act, or a notice that it waits for a second person. */
function Done({ answer, did }: { answer: object; did: (answer: unknown) => ReactNode }) {
  const waits = isWaiting(answer)
  return (
    <div className={waits ? 'notice' : 'notice good'} role="status">
      {waits ? answer.proposal.says : did(answer)}
    </div>
  )
}

/** Appended to a button's text if the button opens a dialog, or if the key lacks a right. */
export function Beyond({ lacks }: { lacks: string | null }) {
  return lacks === null ? '…' : ` (your key lacks “${lacks}”)`
}

function ActForm({ label, says, path, fields: all, body, did, danger, warns, close }: Asked & { close: () => void }) {
  const act = useAct<object>({ mayWait: true })
  const [texts, setTexts] = useState<Filled>(() =>
    Object.fromEntries(all.map((field) => [field.name, firstText(field)])),
  )
  const [wrong, setWrong] = useState<Filled>({})
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const { values, wrong: unreadable } = readForm(all, texts)
    setWrong(unreadable)
    if (Object.keys(unreadable).length > 0) return focusFirst(event.currentTarget, all, unreadable)
    const form = event.currentTarget
    act.mutate(
      { path, body: { ...body, ...values } },
      {
        onError: (error) => {
          const { byField } = problemsOf(error, all)
          setWrong(byField)
          focusFirst(form, all, byField)
        },
      },
    )
  }
  if (act.data) {
    return (
      <div className="stack">
        <Done answer={act.data} did={did} />
        <button type="button" className="button" onClick={close}>
          Done
        </button>
      </div>
    )
  }
  const rest = act.error && problemsOf(act.error, all).rest
  return (
    <form className="stack" onSubmit={submit}>
      <p>{withAddresses(says)}</p>
      <FormFields
        fields={all}
        texts={texts}
        wrong={wrong}
        fill={(name, text) => setTexts({ ...texts, [name]: text })}
      />
      {warns?.(texts)}
      {rest && <Failed error={rest} />}
      <div className="buttons">
        <button type="submit" className={danger ? 'button danger' : 'button main'} disabled={act.isPending}>
          {act.isPending ? 'Working…' : label}
        </button>
        <button type="button" className="button quiet" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  )
}

/** A text whose addresses are checksummed, as in wallets, so that the operator can compare them. */
const withAddresses = (text: string): ReactNode =>
  text
    .split(/(\b0x[0-9a-f]{40}\b)/i)
    .map((part) => (ADDRESS.test(part) ? <Whole key={part} of={checksummed(part)} /> : part))

/** The first text of a field. A choice without a value shows its first option. */
const firstText = ({ value, was, choices }: ActField) => value ?? was ?? choices?.[0]?.[0] ?? ''

function focusFirst(form: HTMLFormElement, fields: readonly ActField[], wrong: Filled): void {
  const first = fields.find(({ name }) => name in wrong)
  const control = first && form.elements.namedItem(first.name)
  if (control instanceof HTMLElement) control.focus()
}
