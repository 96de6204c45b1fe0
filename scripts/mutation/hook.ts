// Loaded by every mutated file of a copy (drawn.ts): says which mutant is active, and reports at exit which ones the process reached. Reads files, not the
// environment, because tests start services with an environment of their own.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { SqlMutant } from './sql.ts'

const here = (name: string) => new URL(`../../${name}`, import.meta.url)
const active = existsSync(here('active-mutant')) ? readFileSync(here('active-mutant'), 'utf8') : ''
const edits = JSON.parse(readFileSync(here('sql-mutants.json'), 'utf8')) as Record<string, SqlMutant[]>
const [activeTemplate] = active.match(/^sql\d+(?=:)/) ?? []
const reachedTemplates = new Set<string>()
const stryker: { activeMutant: string; mutantCoverage?: { static: object; perTest: Record<string, object> } } = {
  activeMutant: active,
}
Object.assign(globalThis, { __stryker__: stryker })

process.on('exit', () => {
  if (!existsSync(here('reached'))) return
  const { static: own = {}, perTest = {} } = stryker.mutantCoverage ?? {}
  const sql = [...reachedTemplates].flatMap((template) => (edits[template] ?? []).map(({ id }) => id))
  const reached = [...Object.keys(own), ...Object.values(perTest).flatMap(Object.keys), ...sql]
  writeFileSync(here(`reached/${process.pid}.json`), JSON.stringify(reached))
})

const changed = new WeakMap<TemplateStringsArray, TemplateStringsArray>()

function changeParts(strings: TemplateStringsArray, number: number): TemplateStringsArray {
  const template = `sql${number}`
  reachedTemplates.add(template)
  if (template !== activeTemplate) return strings
  const known = changed.get(strings)
  if (known) return known
  const edit = edits[template]?.find(({ id }) => id === active)
  if (!edit) throw new Error(`no mutant ${active}`)
  const parts = strings.map((text, part) =>
    part === edit.part ? text.slice(0, edit.at) + edit.put + text.slice(edit.at + edit.length) : text,
  )
  const mutated = Object.assign(parts, { raw: parts })
  changed.set(strings, mutated)
  return mutated
}

type Tag<R> = (strings: TemplateStringsArray, ...values: never[]) => R

/** The same tag, which gets the mutated template if its mutant is active. */
export function mutateTag<R>(tag: Tag<R>, number: number): Tag<R> {
  return (strings, ...values) => tag(changeParts(strings, number), ...values)
}

/** As a template without a tag, mutated if its mutant is active. */
export function mutateText(number: number): (strings: TemplateStringsArray, ...values: unknown[]) => string {
  return (strings, ...values) => String.raw({ raw: changeParts(strings, number) }, ...values)
}
