// Tiers and checkout, in the page's language.
import { inLanguage } from './catalogue.ts'
import { checkout as english } from './en/checkout.ts'

export const words = inLanguage('checkout', english)
