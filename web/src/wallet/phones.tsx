// Phones have no extensions. Each wallet app has its own browser, in which this page finds that wallet. These links open the page there. MetaMask and
// OKX document their links. The links of Coinbase Wallet, Trust and Rainbow are copied from other applications. None was tried on a phone.
import { isFramed } from '../frame.ts'
import { rich } from '../words/message.ts'
import { words } from '../words/wallet.ts'

/** An app's link to a page, by the app's name. */
const APPS: readonly (readonly [name: string, link: (page: URL) => string])[] = [
  // MetaMask needs host and path unencoded. If they are encoded, it opens an empty tab.
  ['MetaMask', ({ host, pathname, search }) => `https://link.metamask.io/dapp/${host}${pathname}${search}`],
  ['Coinbase Wallet', ({ href }) => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(href)}`],
  ['Trust Wallet', ({ href }) => `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(href)}`],
  ['Rainbow', ({ href }) => `https://rnbwapp.com/dapp?url=${encodeURIComponent(href)}`],
  ['OKX Wallet', ({ href }) => `https://web3.okx.com/download?deeplink=${encodeURIComponent(okx(href))}`],
]

const okx = (href: string) => `okx://wallet/dapp/url?dappUrl=${encodeURIComponent(href)}`

/** True if the pointer is a finger. */
export const isPhone = (): boolean => window.matchMedia('(pointer: coarse)').matches

/** A list of wallet apps. Each link opens this page in the app. */
export function WalletApps() {
  const page = new URL(window.location.href)
  return (
    <>
      <p>{words.apps.open}</p>
      <ul className="wallets">
        {APPS.map(([name, link]) => (
          <li key={name}>
            <a href={link(page)} className="button wide" rel="noopener" {...(isFramed && { target: '_blank' })}>
              {name}
            </a>
          </li>
        ))}
      </ul>
      <p className="note">{rich(words.apps.another, { host: <span className="whole">{page.host}</span> })}</p>
    </>
  )
}
