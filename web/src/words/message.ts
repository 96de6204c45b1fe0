// Texts with placeholders: {name} for a value, <name>…</name> for a part that is an element. The compiler checks the values against the text.
import { createElement, Fragment, type ReactNode } from 'react'

/** A text that depends on a number, `{n}`. */
interface Plural {
  readonly one: string
  readonly other: string
}
type Message = string | Plural

type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
type Tags<Text> = Text extends `${string}</${infer Name}>${infer Rest}` ? Name | Tags<Rest> : never
type TextOf<M> = M extends Plural ? M['other'] : M
type Counted<M> = M extends Plural ? { readonly n: number } : unknown

/**
 * The placeholders of a text. Numbers are formatted for the browser's locale. A number that is not an amount, such as a node's ID, must therefore be
 * passed as text.
 */
export type Values<M> = { readonly [Name in Names<TextOf<M>>]: string | number | bigint } & Counted<M>
/** The placeholders of a text that contains elements. */
export type Parts<M> = { readonly [Name in Names<TextOf<M>>]: ReactNode } & {
  readonly [Tag in Tags<TextOf<M>>]: (inside: ReactNode) => ReactNode
} & Counted<M>

type Given = Readonly<Record<string, unknown>>
const PLURALS = new Intl.PluralRules('en')
const FIGURES = new Intl.NumberFormat()

const textOf = (message: Message, { n }: Given): string =>
  typeof message === 'string' ? message : message[PLURALS.select(Number(n)) === 'one' ? 'one' : 'other']
const formatValue = (value: unknown) =>
  typeof value === 'number' || typeof value === 'bigint' ? FIGURES.format(value) : value

/** Fills values into a text. */
export const fill = <const M extends Message>(message: M, values: Values<M>): string =>
  textOf(message, values as Given).replace(/\{(\w+)\}/g, (_, name: string) =>
    String(formatValue((values as Given)[name])),
  )

/** Fills elements into a text. */
export const rich = <const M extends Message>(message: M, parts: Parts<M>): ReactNode =>
  elements(textOf(message, parts as Given), parts as Given)

function elements(text: string, parts: Given): ReactNode {
  const pieces = text.split(/(<\w+>.*?<\/\w+>|\{\w+\})/).map((piece) => {
    const [, tag, inside] = /^<(\w+)>(.*)<\/\w+>$/.exec(piece) ?? []
    if (tag) return (parts[tag] as (inside: ReactNode) => ReactNode)(elements(inside ?? '', parts))
    const name = /^\{(\w+)\}$/.exec(piece)?.[1]
    return name ? (formatValue(parts[name]) as ReactNode) : piece
  })
  return createElement(Fragment, null, ...pieces)
}
