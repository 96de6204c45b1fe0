// The form of every act: a button, a dialog that shows what it will do, one confirmation, and its result.
import { createContext, type FormEvent, type ReactNode, useContext, useState } from 'react'
import { checksummed, short } from '../format.ts'
import { type CopyRow, CopyRows } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Failed } from '../ui/states.tsx'
import { FormFields } from './act-fields.tsx'
import { type ActField, type Filled, fieldsOf, filledIn, problemsOf, readForm } from './act-form.ts'
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
  /** The dialog's heading. Default: the label. */
  title?: string
  /** The button that does the act. Default: the label. */
  does?: string
  /** The dialog's text: what the act does. */
  says: string
  /** What the operator must not overlook. */
  warning?: string
  danger?: boolean
  /** True if the dialog first shows what the act would do. The act must take `dryRun`. */
  tries?: boolean
  /** Facts that the operator copies into a wallet before the act. */
  copies?: readonly CopyRow[]
}

type ActProps<Route extends ActRoute> = Wording & {
  /** The route, as the API document names it. */
  act: Route
  /** The fields to ask for, in addition to the reason. Default: all of the act's fields. */
  fields?: readonly FieldOf<Route>[]
  /** What only the page knows about a field. */
  more?: { readonly [Name in FieldOf<Route>]?: Partial<ActField> }
  /** The fixed part of the body. */
  body?: { readonly [Name in BodyFieldOf<Route>]?: string | number | boolean | readonly string[] }
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
      <Dialog open={openAct !== null} onClose={() => setOpenAct(null)} title={openAct?.title ?? openAct?.label ?? ''}>
        {openAct && <ActForm {...openAct} close={() => setOpenAct(null)} />}
      </Dialog>
    </OpenAct>
  )
}

export function ActButton<Route extends ActRoute>(props: ActProps<Route>) {
  const { label, title = label, does = label, danger = false, main = false, tries = false } = props
  const { says, warning = '', copies = [] } = props
  const { act, params = {}, body = {}, did = itsLine, warns } = props
  const openDialog = useContext(OpenAct)
  const given = { ...body, ...(tries && { dryRun: true }) }
  const fields = fieldsOf(ACTS[act].fields, given, props.fields, props.more ?? {})
  const texts = { label: does, title, says, warning, copies }
  const form = { ...texts, danger, tries, path: placeOf(act, params), fields, body: given, warns }
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

/** The result of an act, or a notice that it waits for a second person. A refund that may not be sent yet is a warning. */
function Done({ answer, did }: { answer: object; did: (answer: unknown) => ReactNode }) {
  const waits = isWaiting(answer)
  const tone = 'sendNow' in answer && answer.sendNow === false ? 'notice warn' : 'notice good'
  return (
    <div className={waits ? 'notice' : tone} role="status">
      {waits ? answer.proposal.says : did(answer)}
    </div>
  )
}

/** Appended to a button's text if the button opens a dialog, or if the key lacks a right. */
export function Beyond({ lacks }: { lacks: string | null }) {
  return lacks === null ? '…' : ` (your key lacks “${lacks}”)`
}

function ActForm({ close, ...asked }: Asked & { close: () => void }) {
  const { label, says, warning, path, fields: all, body, danger, tries, warns, copies = [] } = asked
  const act = useAct<object>({ mayWait: true })
  const [texts, setTexts] = useState<Filled>(() =>
    Object.fromEntries(all.map((field) => [field.name, firstText(field)])),
  )
  const [wrong, setWrong] = useState<Filled>({})
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const { values, wrong: unreadable } = readForm(all, texts)
    act.reset()
    setWrong(unreadable)
    if (Object.keys(unreadable).length > 0) return focusFirst(event.currentTarget, all, unreadable)
    const form = event.currentTarget
    const onError = (error: Error) => focusFirst(form, all, problemsOf(error, all).byField)
    act.mutate({ path, body: { ...body, ...values } }, { onError })
  }
  if (act.data) {
    const go = () => act.mutate({ path, body: { ...act.variables?.body, dryRun: false } })
    return <Answer {...asked} answer={act.data} close={close} go={go} back={act.reset} />
  }
  // In whole and checksummed, as in wallets, so that the operator can compare them.
  const addresses = (says.match(ADDRESSES) ?? []).map(checksummed).map((whole) => ['Address', whole, whole] as const)
  const { byField, rest } = act.error ? problemsOf(act.error, all) : { byField: {}, rest: null }
  return (
    <form className="stack" onSubmit={submit}>
      <p>{says.replace(ADDRESSES, (address) => short(checksummed(address)))}</p>
      {(copies.length > 0 || addresses.length > 0) && <CopyRows rows={[...copies, ...addresses]} />}
      {warning && <p className="notice warn">{warning}</p>}
      <FormFields
        fields={all}
        texts={texts}
        wrong={{ ...byField, ...wrong }}
        fill={(name, text) => setTexts(filledIn(all, texts, name, text))}
      />
      {warns?.(texts)}
      {rest && <Failed error={rest} />}
      <div className="buttons">
        <button type="submit" className={mainClass(danger)} disabled={act.isPending} aria-busy={act.isPending}>
          {act.isPending ? 'Working…' : tries ? 'Preview' : label}
        </button>
        <button type="button" className="button quiet" onClick={close}>
          Back
        </button>
      </div>
    </form>
  )
}

/** Addresses in a text. */
const ADDRESSES = /\b0x[0-9a-f]{40}\b/gi

const mainClass = (danger = false) => (danger ? 'button danger' : 'button main')

interface AnswerProps extends Asked {
  answer: object
  close: () => void
  /** Does what was tried. */
  go: () => void
  back: () => void
}

/** What the act did, or what it would do, with the button that does it. */
function Answer({ answer, did, label, danger, tries, close, go, back }: AnswerProps) {
  const isTrial = tries && 'dryRun' in answer && answer.dryRun === true
  return (
    <div className="stack">
      {isTrial ? <div>{did(answer)}</div> : <Done answer={answer} did={did} />}
      <div className="buttons">
        {isTrial && (
          <button type="button" className={mainClass(danger)} onClick={go}>
            {label}
          </button>
        )}
        <button type="button" className={isTrial ? 'button quiet' : 'button'} onClick={isTrial ? back : close}>
          {isTrial ? 'Back' : 'Done'}
        </button>
      </div>
    </div>
  )
}

/** The first text of a field. A choice without a value shows its first option. */
const firstText = ({ value, was, choices }: ActField) => value ?? was ?? choices?.[0]?.[0] ?? ''

function focusFirst(form: HTMLFormElement, fields: readonly ActField[], wrong: Filled): void {
  const first = fields.find(({ name }) => name in wrong)
  const control = first && form.elements.namedItem(first.name)
  if (control instanceof Element) control.closest('details')?.setAttribute('open', '')
  if (control instanceof HTMLElement) control.focus()
}
