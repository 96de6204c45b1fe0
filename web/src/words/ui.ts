// What every page shares, in the page's language.
import { inLanguage } from './catalogue.ts'
import { ui as english } from './en/ui.ts'

export const ui = inLanguage('ui', english)
