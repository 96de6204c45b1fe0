// Which language the button speaks: that of its own `lang`, else of the page around it, else the browser's; English where it has none of these.
import { german } from './german.ts'
import { english, type Words } from './words.ts'

const LANGUAGES: Readonly<Record<string, Words>> = { en: english, de: german }

/** The words for a button where it stands. */
export function wordsFor(button: Element): Words {
  const around = button.closest<HTMLElement>('[lang]')?.lang
  for (const tag of around ? [around] : navigator.languages) {
    const words = LANGUAGES[tag.toLowerCase().split('-')[0] ?? '']
    if (words) return words
  }
  return english
}
