// Wallets, in the page's language.
import { inLanguage } from './catalogue.ts'
import { wallet as english } from './en/wallet.ts'

export const words = inLanguage('wallet', english)
