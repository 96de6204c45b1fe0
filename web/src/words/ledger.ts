// The pages of the ledger, in the page's language.
import { inLanguage } from './catalogue.ts'
import { ledger as english } from './en/ledger.ts'

export const words = inLanguage('ledger', english)
