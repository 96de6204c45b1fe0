// Goes through a list from the operator's routes page by page, from newest to oldest and back.
import { useState } from 'react'
import { sentenceCase } from '../format.ts'
import { type ReadRoute, useAdmin } from './admin.ts'

/** Rows on a page. */
export const PAGE = 50

/** A position in a list: null is the newest page. */
interface Place {
  cursor: string | null
  go: (cursor: string | null) => void
}

/** Reads the page of a list at `place`. If `filter` changes, call `go(null)`, because a cursor is valid for one list only. */
export function usePages<Route extends ReadRoute>(route: Route, filter: Record<string, string> = {}, rows = PAGE) {
  const [cursor, go] = useState<string | null>(null)
  const page = useAdmin(route, { ...filter, limit: String(rows), ...(cursor && { cursor }) })
  return { page, place: { cursor, go } satisfies Place }
}

/** The buttons to the next page, if `next` is set, and back to the newest. */
export function Pager({ place: { cursor, go }, next }: { place: Place; next: string | null }) {
  if (cursor === null && next === null) return null
  return (
    <div className="buttons">
      {cursor && (
        <button type="button" className="button" onClick={() => go(null)}>
          Newest
        </button>
      )}
      {next && (
        <button type="button" className="button" onClick={() => go(next)}>
          Older
        </button>
      )}
    </div>
  )
}

interface ChoiceProps {
  /** The choice's name, for screen readers. */
  label: string
  value: string
  choices: readonly (readonly [value: string, text: string])[]
  choose: (value: string) => void
}

/** Chooses which rows a list shows. */
export function Choice({ label, value, choices, choose }: ChoiceProps) {
  return (
    <label className="field">
      <span className="visually-hidden">{label}</span>
      <select value={value} onChange={(event) => choose(event.target.value)}>
        {choices.map(([choice, text]) => (
          <option key={choice} value={choice}>
            {sentenceCase(text)}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Finds rows by a text. */
export function Find({ label, find }: { label: string; find: (text: string) => void }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        find(String(new FormData(event.currentTarget).get('find')).trim())
      }}
    >
      <input name="find" type="search" aria-label={label} placeholder={label} autoComplete="off" spellCheck="false" />
    </form>
  )
}
