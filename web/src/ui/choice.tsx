// A switch between a few options, one of them active: radio buttons that look like one control.
import { useId } from 'react'

interface ChoiceProps<Option extends string> {
  /** What the switch chooses, for screen readers. */
  legend: string
  options: readonly Option[]
  value: Option
  choose: (option: Option) => void
  word: (option: Option) => string
}

export function Choice<Option extends string>({ legend, options, value, choose, word }: ChoiceProps<Option>) {
  const name = useId()
  return (
    <fieldset className="switch">
      <legend className="visually-hidden">{legend}</legend>
      {options.map((option) => (
        <label key={option}>
          <input type="radio" name={name} checked={option === value} onChange={() => choose(option)} />
          <span>{word(option)}</span>
        </label>
      ))}
    </fieldset>
  )
}
