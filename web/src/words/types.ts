// What a text is, and what another language has to have: a key or a placeholder that is missing does not compile. One too many is found by a test.

/** A text by a number, `{n}`. Both languages have these two forms. */
export interface Plural {
  readonly one: string
  readonly other: string
}
export type Message = string | Plural

/** The texts of a part in another language: the same keys, each with the placeholders of the English one. */
export type Translated<English> = {
  readonly [Name in keyof English]: English[Name] extends Message ? Alike<English[Name]> : Translated<English[Name]>
}
type Alike<Text extends Message> = Text extends string
  ? WithNames<Text>
  : Text extends { readonly other: infer Other extends string }
    ? { readonly one: string; readonly other: WithNames<Other> }
    : never
type WithNames<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? `${string}{${Name}}${string}` & WithNames<Rest>
  : string
