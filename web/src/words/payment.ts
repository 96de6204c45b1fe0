// A payment's way, in the page's language.
import { inLanguage } from './catalogue.ts'
import { payment as english } from './en/payment.ts'

export const words = inLanguage('payment', english)
