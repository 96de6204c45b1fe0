// The page of the design, in the page's language.
import { inLanguage } from './catalogue.ts'
import { design as english } from './en/design.ts'

export const words = inLanguage('design', english)
