// One round and one node, in the page's language.
import { inLanguage } from './catalogue.ts'
import { detail as english } from './en/detail.ts'

export const detail = inLanguage('detail', english)
