// Phones have no extensions: each wallet app has a browser of its own, in which this page finds that wallet. Links open the page there.
// MetaMask's and OKX's are in their documents; those of Coinbase Wallet, Trust and Rainbow are as other applications use them. None was tried on a phone.
import { isFramed } from '../frame.ts'
import { rich } from '../words/message.ts'
import { words } from '../words/wallet.ts'

/** An app's link to a page, by its name. */
const APPS: readonly (readonly [name: string, link: (page: URL) => string])[] = [
  // Takes host and path as they are: what is encoded opens an empty tab.
  ['MetaMask', ({ host, pathname, search }) => `https://link.metamask.io/dapp/${host}${pathname}${search}`],
  ['Coinbase Wallet', ({ href }) => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(href)}`],
  ['Trust Wallet', ({ href }) => `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(href)}`],
  ['Rainbow', ({ href }) => `https://rnbwapp.com/dapp?url=${encodeURIComponent(href)}`],
  ['OKX Wallet', ({ href }) => `https://web3.okx.com/download?deeplink=${encodeURIComponent(okx(href))}`],
]

const okx = (href: string) => `okx://wallet/dapp/url?dappUrl=${encodeURIComponent(href)}`

/** True where a finger is the pointer. */
export const isPhone = (): boolean => window.matchMedia('(pointer: coarse)').matches

/** A list of wallet apps, each opening this page in itself. */
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
