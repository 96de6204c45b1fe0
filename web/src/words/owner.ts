// An owner's page, in the page's language.
import { inLanguage } from './catalogue.ts'
import { owner as english } from './en/owner.ts'

export const words = inLanguage('owner', english)
