// The texts of this page's language. English is part of the pages; another language's catalogue is a file of its own, loaded only where it is chosen.
// That file must import nothing: this module waits for it, and all others wait for this one.
import type { german } from './de/index.ts'
import { type Language, nameLanguage, wantedLanguage } from './language.ts'

type German = typeof german

// A file that cannot be loaded leaves the pages in English.
const other: German | null =
  wantedLanguage() === 'de' ? await import('./de/index.ts').then((file) => file.german).catch(() => null) : null

/** The language that the page speaks. */
export const LANGUAGE: Language = other ? 'de' : 'en'

/** The locales of its numbers and its dates: one for each language, so that all its readers see the same, wherever their browsers are. */
export const [NUMBERS, DATES] = ({ en: ['en-US', 'en-GB'], de: ['de-DE', 'de-DE'] } as const)[LANGUAGE]

/** A part of the catalogue in the page's language. The English one says which texts there are, and gives them their types. */
export const inLanguage = <English>(part: Exclude<keyof German, 'said'>, english: English): English =>
  (other?.[part] as English | undefined) ?? english

/** A sentence of the service, the contract or the client in the page's language, where it has it; else as it came. */
export const said = (sentence: string): string => other?.said[sentence] ?? sentence

nameLanguage(LANGUAGE)
