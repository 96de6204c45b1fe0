// <node-ledger-buy service="https://ledger.example" tier="basic">: sells one node on any page, with a wallet of the browser, by the rules of the
// service's own pages. It never asks a wallet for anything before it is pressed.
import { createClient, type LedgerClient } from '../client.ts'
import { LedgerError } from '../errors.ts'
import { followPayment } from '../follow.ts'
import { type Intent, readIntent, sentSince, writeIntent } from '../intent.ts'
import { inEther, WalletError } from '../purchase.ts'
import type { Hex, Quote } from '../types.ts'
import { watchAddress } from '../watch.ts'
import { createPanel, type View } from './panel.ts'
import { check, pay } from './purchase.ts'
import { connect, type FoundWallet, findWallets } from './wallets.ts'
import { STATES, whyNot } from './words.ts'

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
      this.#panel.frame(this.#checkout('').href, 'Buy a node')
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
    this.#show(signal, { button: 'Buy a node', says })
    try {
      const [quote, tiers] = await Promise.all([
        this.#client.getDeployQuote(this.#tier, { signal }),
        this.#client.getTiers({ signal }),
      ])
      const label = tiers.find(({ id }) => id === quote.tierId)?.label ?? quote.tierId
      this.#ready(signal, { quote, label }, says)
    } catch (error) {
      this.#show(signal, { button: 'Try again', press: () => this.#restart(), says: [messageOf(error)] })
    }
  }

  #ready(signal: AbortSignal, offer: Offer, says: readonly string[] = [], link?: View['link']): void {
    const press = () => {
      const [first, ...others] = this.#wallets
      const choose = (wallet: FoundWallet) => void this.#buy(signal, offer, wallet, false)
      if (!first) {
        const link = this.#checkout('Pay from a phone or by hand')
        this.#ready(signal, offer, ['No wallet was found in this browser.'], link)
      } else if (others.length === 0) choose(first)
      else this.#show(signal, { button: nameOf(offer), press, says: ['Pay with:'], wallets: this.#wallets, choose })
    }
    this.#show(signal, { button: nameOf(offer), press, says, link })
  }

  async #buy(signal: AbortSignal, offer: Offer, wallet: FoundWallet, agreed: boolean): Promise<void> {
    const { quote, label } = offer
    const price = `${inEther(quote.priceWei)} ETH`
    const again = (withAgreement: boolean) => () => void this.#buy(signal, offer, wallet, withAgreement)
    this.#show(signal, { button: nameOf(offer), says: [`Checking with ${wallet.info.name}…`] })
    try {
      const payer = await connect(wallet.provider)
      const { blocking, isReviewed, isPartlyUnknown } = await check(this.#client, payer, quote.tierId)
      if (signal.aborted) return
      if (blocking.length > 0) {
        const why = blocking.map((one) => whyNot(one, label))
        const says = ['This payment would be held, so it is not offered:', ...why]
        this.#show(signal, { button: 'Check again', press: again(false), says })
        return
      }
      if (isReviewed && !agreed) {
        const agreement =
          'The operator would look at this payment first: it would be held until they release the node or send the ether back. Pay all the same.'
        this.#show(signal, { button: `Pay ${price}`, press: again(true), agreement })
        return
      }
      const unknown = 'Not all of it could be checked just now. What does not pass would be held, not lost.'
      const says = [`Confirm ${price} in the wallet…`, ...(isPartlyUnknown ? [unknown] : [])]
      const txHash = await pay({
        ...{ ledger: this.#client, provider: wallet.provider, payer, tierId: quote.tierId, key: this.#key },
        agreedWei: quote.priceWei,
        onAsked: () => this.#show(signal, { button: nameOf(offer), says }),
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
      void this.#resume(intent, signal, messageOf(error))
      return
    }
    const code = error instanceof WalletError ? error.code : null
    if (code === 'priceChanged') {
      this.#restart([messageOf(error)])
      return
    }
    const leadsOn = code === 'contractWallet' || code === 'notOffered'
    this.#ready(signal, offer, [messageOf(error)], leadsOn ? this.#checkout('Pay on the ledger’s own page') : undefined)
  }

  /** A purchase that was begun, and whose end was not seen. */
  async #resume(intent: Intent, signal: AbortSignal, why?: string): Promise<void> {
    const payer = intent.payer as Hex
    if (intent.txHash) return this.#follow(signal, intent.txHash as Hex, payer)
    const says = [
      ...(why === undefined ? [] : [why]),
      `This browser asked a wallet for ${inEther(BigInt(intent.priceWei))} ETH, and did not hear what became of it. If you confirmed it, it shows here within a block or two. Do not pay again before you have looked into the wallet.`,
    ]
    const forget = () => {
      writeIntent(this.#key, null)
      this.#restart()
    }
    this.#show(signal, { button: 'Nothing was sent: buy now', press: forget, says })
    try {
      const txHash = await this.#found(intent, signal)
      if (txHash) await this.#follow(signal, txHash, payer)
    } catch (error) {
      this.#show(signal, { button: 'Nothing was sent: buy now', press: forget, says: [...says, messageOf(error)] })
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
    const onPage = { href: this.#page(`payment/${txHash}`), text: 'This payment’s page' }
    const another = () => {
      writeIntent(this.#key, null)
      this.#restart()
    }
    const onState = (state: keyof typeof STATES) => {
      this.#tell('state', { txHash, state })
      this.#show(signal, { button: 'Buy a node', says: [STATES[state]], link: onPage })
    }
    try {
      const { payment, node } = await followPayment(this.#client, txHash, {
        ...{ from: payer, signal, onState, pollMs: POLL_MS, timeoutMs: FOLLOW_MS_MAX },
      })
      writeIntent(this.#key, null)
      const link = node ? { href: this.#page(`node/${node.nodeId}`), text: `Node #${node.nodeId}` } : onPage
      this.#show(signal, { button: 'Buy another', press: another, says: [STATES[payment.status]], link })
      this.#tell('done', { txHash, payment, node })
    } catch (error) {
      this.#show(signal, { button: 'Buy another', press: another, says: [messageOf(error)], link: onPage })
    }
  }

  /** An event for the page: `node-ledger-sent`, `-state`, `-done`, `-error`. */
  #tell(name: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(`node-ledger-${name}`, { detail, bubbles: true, composed: true }))
  }
}

const nameOf = ({ quote, label }: Offer) => `Buy ${label} for ${inEther(quote.priceWei)} ETH`

function messageOf(error: unknown): string {
  if (error instanceof LedgerError || error instanceof WalletError || error instanceof TypeError) return error.message
  const { message } = (error ?? {}) as { message?: unknown }
  return `The wallet could not do it: ${typeof message === 'string' ? message : String(error)}`
}
