// Which language the pages speak: the reader's choice, else the first of the browser's that there is, else English. It is settled once, while a page
// loads, so that texts are constants; a change of it loads the page again.

/** Each language in its own word for itself. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES

const KEY = 'language'
const isLanguage = (tag: string | null | undefined): tag is Language => tag != null && Object.hasOwn(LANGUAGES, tag)

/** The language for a path. The console is the operator's, and English alone. */
export function languageFor(path: string, chosen: string | null, ofBrowser: readonly string[]): Language {
  if (/^\/console(\/|$)/.test(path)) return 'en'
  if (isLanguage(chosen)) return chosen
  return ofBrowser.map((tag) => tag.toLowerCase().split('-')[0]).find(isLanguage) ?? 'en'
}

/** The page around; where formats are tested there is none. */
interface Around {
  document?: { documentElement: { lang: string } }
  location: { pathname: string; reload: () => void }
  localStorage: { getItem: (key: string) => string | null; setItem: (key: string, value: string) => void }
}
const around = globalThis as unknown as Around

/** The language that this page should speak. */
export const wantedLanguage = (): Language =>
  around.document
    ? languageFor(around.location.pathname, readChoice(), navigator.languages)
    : languageFor('/', null, navigator.languages)

/** Says to browsers and screen readers which one it speaks. */
export function nameLanguage(language: Language): void {
  if (around.document) around.document.documentElement.lang = language
}

/** Keeps the choice in this browser, and loads the page again in it. */
export function chooseLanguage(language: Language): void {
  try {
    around.localStorage.setItem(KEY, language)
  } catch {
    // Storage may be forbidden: what cannot be kept cannot be chosen.
    return
  }
  around.location.reload()
}

function readChoice(): string | null {
  try {
    return around.localStorage.getItem(KEY)
  } catch {
    // Storage may be forbidden; the browser's language applies then.
    return null
  }
}
