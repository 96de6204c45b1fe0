// The fields of an act's dialog. Amounts in ether show their wei, each error is next to its field, and changes show before they are made.
import type { ActField, Filled } from './act-form.ts'
import { etherAndWei, weiOf } from './amounts.ts'
import { Changes } from './record.tsx'

interface FormFieldsProps {
  fields: readonly ActField[]
  texts: Filled
  wrong: Filled
  fill: (name: string, text: string) => void
}

/** A form that requires some fields folds those that may stay empty, if there are more of them. */
const OPTIONAL_MAX = 4
const isOptional = ({ required, was }: ActField) => !required && was === undefined

export function FormFields({ fields, texts, wrong, fill }: FormFieldsProps) {
  const changes = fields.flatMap(({ name, label, was, choices }) => {
    const text = (texts[name] ?? '').trim()
    const words = (value: string) => choices?.find(([choice]) => choice === value)?.[1] ?? (value || 'none')
    return was === undefined || text === '' || text === was
      ? []
      : [{ name: label, before: words(was), after: words(text) }]
  })
  const folded = fields.filter(isOptional)
  const isFolded = folded.length > OPTIONAL_MAX && fields.some(({ required }) => required)
  const show = (field: ActField) => (
    <div key={field.name} className="field">
      <label htmlFor={`act-${field.name}`}>
        {field.label}
        {isOptional(field) && !field.choices && ' (optional)'}
      </label>
      {field.hint && <p className="note">{field.hint}</p>}
      <Control field={field} text={texts[field.name] ?? ''} isWrong={field.name in wrong} fill={fill} />
      {field.ether && <Echo text={texts[field.name] ?? ''} />}
      {field.name in wrong && (
        <p id={`act-${field.name}-wrong`} className="error" role="alert">
          {wrong[field.name]}
        </p>
      )}
    </div>
  )
  return (
    <>
      {fields.filter((field) => !isFolded || !folded.includes(field)).map(show)}
      {isFolded && (
        <details>
          <summary>{folded.length} optional fields</summary>
          <div className="stack after">{folded.map(show)}</div>
        </details>
      )}
      {changes.length > 0 && (
        <div className="evidence" role="status">
          <p>What changes</p>
          <Changes changes={changes} />
        </div>
      )}
    </>
  )
}

function Echo({ text }: { text: string }) {
  const wei = weiOf(text)
  return wei === null ? null : <p className="note">{etherAndWei(wei)}</p>
}

interface ControlProps {
  field: ActField
  text: string
  isWrong: boolean
  fill: (name: string, text: string) => void
}

function Control({ field: { name, choices, required, placeholder, ether, lines }, text, isWrong, fill }: ControlProps) {
  const attributes = {
    id: `act-${name}`,
    name,
    required,
    value: text,
    ...(isWrong && { 'aria-invalid': true, 'aria-describedby': `act-${name}-wrong` }),
  }
  if (choices) {
    return (
      <select {...attributes} onChange={(event) => fill(name, event.target.value)}>
        {choices.map(([choice, label]) => (
          <option key={choice} value={choice}>
            {label}
          </option>
        ))}
      </select>
    )
  }
  if (lines) {
    return (
      <textarea
        {...attributes}
        placeholder={placeholder}
        rows={8}
        onChange={(event) => fill(name, event.target.value)}
        autoComplete="off"
        spellCheck="false"
      />
    )
  }
  return (
    <input
      {...attributes}
      placeholder={placeholder}
      {...(ether && { inputMode: 'decimal' })}
      onChange={(event) => fill(name, event.target.value)}
      autoComplete="off"
      spellCheck="false"
    />
  )
}
