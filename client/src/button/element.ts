// <node-ledger-buy service="https://ledger.example" tier="basic">: sells one node on any page, with a wallet of the browser, by the rules of the
// service's own pages. It never asks a wallet for anything before it is pressed.
import { createClient, type LedgerClient } from '../client.ts'
import { LedgerError } from '../errors.ts'
import { followPayment } from '../follow.ts'
import { type Intent, readIntent, sentSince, writeIntent } from '../intent.ts'
import { inEther, WalletError } from '../purchase.ts'
import type { Hex, Quote } from '../types.ts'
import { watchAddress } from '../watch.ts'
import { wordsFor } from './language.ts'
import { createPanel, type View } from './panel.ts'
import { check, pay } from './purchase.ts'
import { connect, type FoundWallet, findWallets } from './wallets.ts'
import type { Words } from './words.ts'

const POLL_MS = 4_000
/** A page that stays open follows its payment for as long. */
const FOLLOW_MS_MAX = 24 * 3_600_000

/** A tier as it is offered. */
interface Offer {
  quote: Quote
  label: string
}

export class BuyButton extends HTMLElement {
  static readonly observedAttributes = ['service', 'tier', 'framed']
  readonly #panel = createPanel(this.attachShadow({ mode: 'open' }))
  #stop = new AbortController()
  #wallets: readonly FoundWallet[] = []

  connectedCallback(): void {
    this.#restart()
  }

  disconnectedCallback(): void {
    this.#stop.abort()
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#restart()
  }

  /** The service's URL, without a slash at its end: where this script came from, unless the page names another. */
  get #service(): string {
    return (this.getAttribute('service') ?? new URL(import.meta.url).origin).replace(/\/+$/, '')
  }

  get #tier(): string | undefined {
    return this.getAttribute('tier') ?? undefined
  }

  /** Where the intent of this tier is kept in the page's own storage. */
  get #key(): string {
    return `node-ledger-buy ${this.#service} ${this.#tier ?? ''}`
  }

  /** As the page around says by now. */
  get #words(): Words {
    return wordsFor(this)
  }

  #page(path: string): string {
    return `${this.#service}/${path}`
  }

  /** The service's own page for this tier, where there are more ways to pay. */
  #checkout(text: string) {
    return { href: this.#page(this.#tier === undefined ? 'buy' : `buy/${encodeURIComponent(this.#tier)}`), text }
  }

  #restart(says: readonly string[] = []): void {
    this.#stop.abort()
    this.#stop = new AbortController()
    const { signal } = this.#stop
    if (this.hasAttribute('framed')) {
      this.#panel.frame(this.#checkout('').href, this.#words.buyOne)
      return
    }
    const end = findWallets((wallets) => {
      this.#wallets = wallets
    })
    signal.addEventListener('abort', end)
    const intent = readIntent(this.#key)
    void (intent ? this.#resume(intent, signal) : this.#offer(signal, says))
  }

  get #client(): LedgerClient {
    return createClient({ baseUrl: this.#service })
  }

  #show(signal: AbortSignal, view: View): void {
    if (!signal.aborted) this.#panel.show(view)
  }

  async #offer(signal: AbortSignal, says: readonly string[]): Promise<void> {
    this.#show(signal, { button: this.#words.buyOne, says })
    try {
      const [quote, tiers] = await Promise.all([
        this.#client.getDeployQuote(this.#tier, { signal }),
        this.#client.getTiers({ signal }),
      ])
      const label = tiers.find(({ id }) => id === quote.tierId)?.label ?? quote.tierId
      this.#ready(signal, { quote, label }, says)
    } catch (error) {
      this.#show(signal, {
        ...{ button: this.#words.again, press: () => this.#restart() },
        says: [messageOf(error, this.#words)],
      })
    }
  }

  #ready(signal: AbortSignal, offer: Offer, says: readonly string[] = [], link?: View['link']): void {
    const words = this.#words
    const press = () => {
      const [first, ...others] = this.#wallets
      const choose = (wallet: FoundWallet) => void this.#buy(signal, offer, wallet, false)
      if (!first) {
        const link = this.#checkout(words.otherWays)
        this.#ready(signal, offer, [words.noWallet], link)
      } else if (others.length === 0) choose(first)
      else
        this.#show(signal, {
          button: nameOf(offer, words),
          press,
          says: [words.payWith],
          wallets: this.#wallets,
          choose,
        })
    }
    this.#show(signal, { button: nameOf(offer, words), press, says, link })
  }

  async #buy(signal: AbortSignal, offer: Offer, wallet: FoundWallet, agreed: boolean): Promise<void> {
    const words = this.#words
    const { quote, label } = offer
    const price = `${inEther(quote.priceWei)} ETH`
    const again = (withAgreement: boolean) => () => void this.#buy(signal, offer, wallet, withAgreement)
    this.#show(signal, { button: nameOf(offer, words), says: [words.checking(wallet.info.name)] })
    try {
      const payer = await connect(wallet.provider)
      const { blocking, isReviewed, isPartlyUnknown } = await check(this.#client, payer, quote.tierId)
      if (signal.aborted) return
      if (blocking.length > 0) {
        const why = blocking.map((one) => words.whyNot(one, label))
        const says = [words.notOffered, ...why]
        this.#show(signal, { button: words.checkAgain, press: again(false), says })
        return
      }
      if (isReviewed && !agreed) {
        this.#show(signal, { button: words.pay(price), press: again(true), agreement: words.agree })
        return
      }
      const says = [words.confirm(price), ...(isPartlyUnknown ? [words.partlyUnknown] : [])]
      const txHash = await pay({
        ...{ ledger: this.#client, provider: wallet.provider, payer, tierId: quote.tierId, key: this.#key },
        agreedWei: quote.priceWei,
        onAsked: () => this.#show(signal, { button: nameOf(offer, words), says }),
      })
      this.#tell('sent', { txHash })
      await this.#follow(signal, txHash, payer)
    } catch (error) {
      this.#refused(signal, offer, error)
    }
  }

  #refused(signal: AbortSignal, offer: Offer, error: unknown): void {
    if (signal.aborted) return
    this.#tell('error', { error })
    const intent = readIntent(this.#key)
    // The wallet was asked, and what it did is not known.
    if (intent) {
      void this.#resume(intent, signal, messageOf(error, this.#words))
      return
    }
    const code = error instanceof WalletError ? error.code : null
    if (code === 'priceChanged') {
      this.#restart([messageOf(error, this.#words)])
      return
    }
    const leadsOn = code === 'contractWallet' || code === 'notOffered'
    const link = leadsOn ? this.#checkout(this.#words.onOwnPage) : undefined
    this.#ready(signal, offer, [messageOf(error, this.#words)], link)
  }

  /** A purchase that was begun, and whose end was not seen. */
  async #resume(intent: Intent, signal: AbortSignal, why?: string): Promise<void> {
    const words = this.#words
    const payer = intent.payer as Hex
    if (intent.txHash) return this.#follow(signal, intent.txHash as Hex, payer)
    const says = [...(why === undefined ? [] : [why]), words.notHeard(`${inEther(BigInt(intent.priceWei))} ETH`)]
    const forget = () => {
      writeIntent(this.#key, null)
      this.#restart()
    }
    this.#show(signal, { button: words.nothingSent, press: forget, says })
    try {
      const txHash = await this.#found(intent, signal)
      if (txHash) await this.#follow(signal, txHash, payer)
    } catch (error) {
      this.#show(signal, { button: words.nothingSent, press: forget, says: [...says, messageOf(error, words)] })
    }
  }

  /** Waits for the payment of an intent whose hash was lost; `undefined` once it is of no use any more. */
  async #found(intent: Intent, signal: AbortSignal): Promise<Hex | undefined> {
    for await (const { payments } of watchAddress(this.#client, intent.payer, { signal, pollMs: POLL_MS })) {
      const found = sentSince(payments, intent)
      if (found) return found as Hex
    }
    return undefined
  }

  async #follow(signal: AbortSignal, txHash: Hex, payer: Hex): Promise<void> {
    const words = this.#words
    const onPage = { href: this.#page(`payment/${txHash}`), text: words.paymentPage }
    const another = () => {
      writeIntent(this.#key, null)
      this.#restart()
    }
    const onState = (state: keyof Words['states']) => {
      this.#tell('state', { txHash, state })
      this.#show(signal, { button: words.buyOne, says: [words.states[state]], link: onPage })
    }
    try {
      const { payment, node } = await followPayment(this.#client, txHash, {
        ...{ from: payer, signal, onState, pollMs: POLL_MS, timeoutMs: FOLLOW_MS_MAX },
      })
      writeIntent(this.#key, null)
      const link = node ? { href: this.#page(`node/${node.nodeId}`), text: words.node(node.nodeId) } : onPage
      this.#show(signal, { button: words.another, press: another, says: [words.states[payment.status]], link })
      this.#tell('done', { txHash, payment, node })
    } catch (error) {
      this.#show(signal, { button: words.another, press: another, says: [messageOf(error, words)], link: onPage })
    }
  }

  /** An event for the page: `node-ledger-sent`, `-state`, `-done`, `-error`. */
  #tell(name: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(`node-ledger-${name}`, { detail, bubbles: true, composed: true }))
  }
}

const nameOf = ({ quote, label }: Offer, words: Words) => words.buy(label, `${inEther(quote.priceWei)} ETH`)

function messageOf(error: unknown, words: Words): string {
  if (error instanceof LedgerError || error instanceof WalletError) return words.fault(error) ?? error.message
  if (error instanceof TypeError) return error.message
  const { message } = (error ?? {}) as { message?: unknown }
  return words.walletFailed(typeof message === 'string' ? message : String(error))
}
