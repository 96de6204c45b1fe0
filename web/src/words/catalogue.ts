// The texts of this page's language. English is part of the pages; another language's catalogue is a file of its own, loaded only where it is chosen.
// It takes the place of what is English before anything is shown. Awaited by the modules themselves, it would have the bundler cut the pages into twice
// as many files; so a constant of a module that has texts in it is made with its first use (`once`).
import type { german } from './de/index.ts'
import { type Language, nameLanguage, wantedLanguage } from './language.ts'

type German = typeof german
interface Texts {
  [name: string]: string | Texts
}

/** The language that the page speaks. */
export const LANGUAGE: Language = wantedLanguage()

/** The locales of its numbers and its dates: one for each language, so that all its readers see the same, wherever their browsers are. */
export const [NUMBERS, DATES] = ({ en: ['en-US', 'en-GB'], de: ['de-DE', 'de-DE'] } as const)[LANGUAGE]

let other: German | null = null
/** Parts that were handed out before the other language came. */
const handedOut = new Map<string, object>()

/** A part of the catalogue in the page's language. The English one says which texts there are, and gives them their types. */
export function inLanguage<English extends object>(part: Exclude<keyof German, 'said'>, english: English): English {
  if (other) return other[part] as unknown as English
  handedOut.set(part, english)
  return english
}

/** A sentence of the service, the contract or the client in the page's language, where it has it; else as it came. */
export const said = (sentence: string): string => other?.said(sentence) ?? sentence

/** Has the texts in the page's language. Throws where they cannot be loaded: they stay English then. */
export async function loadTexts(): Promise<void> {
  if (LANGUAGE === 'en') return
  other = (await import('./de/index.ts')).german
  for (const [part, english] of handedOut) replace(english as Texts, other[part as keyof German] as Texts)
  nameLanguage(LANGUAGE)
}

function replace(english: Texts, texts: Texts): void {
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text === 'string') english[name] = text
    else replace(english[name] as Texts, text)
  }
}

/** A constant that is made with its first use. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
