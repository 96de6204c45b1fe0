// What browser extensions put on the page: the wallets that they announce (EIP-6963), and `window.ethereum`. Any of it may be malformed in any way.
// Every reader gets only what this file has checked. Must never let one broken extension take away the wallets of the others.
import type { EIP1193Provider } from 'viem'

export interface Announced {
  info: { uuid: string; name: string; icon: string | undefined; rdns: string }
  provider: EIP1193Provider
}

/** Far more wallets than a browser has. A broken extension may announce without end. */
const WALLETS_MAX = 50
/** As much of a name as fits on its button. */
const NAME_CHARS = 40
/** EIP-6963 recommends icons of 96 pixels; this is ten times what such a picture takes. */
const ICON_CHARS_MAX = 200_000
const ANNOUNCE = 'eip6963:announceProvider'

/** The result of reading what an extension owns; undefined if that throws. */
function read<T>(own: () => T): T | undefined {
  try {
    return own()
  } catch {
    return undefined
  }
}

const isProvider = (value: unknown): value is EIP1193Provider =>
  read(() => typeof (value as EIP1193Provider).request === 'function') ?? false

/** A text in one line, without control characters and marks that reorder the text around them. */
const lineOf = (text: unknown): string =>
  typeof text === 'string'
    ? [
        ...text
          .slice(0, 10 * NAME_CHARS)
          .replace(/[\p{C}\s]+/gu, ' ')
          .trim(),
      ]
        .slice(0, NAME_CHARS)
        .join('')
    : ''

const wallets: (Announced & { identity: string })[] = []

/** `id`, or with a number behind it if another wallet has taken it. */
function uniqueId(id: string, of: (info: Announced['info']) => string): string {
  const idsInUse = wallets.map(({ info }) => of(info))
  let own = id
  for (let n = 2; idsInUse.includes(own); n++) own = `${id} ${n}`
  return own
}

/** An announcement in the form that the pages may rely on, the same for a wallet that announces itself again. */
function walletFrom(detail: Announced | null, fallbackName: string): Announced | undefined {
  if (!isProvider(detail?.provider) || typeof detail.info !== 'object' || detail.info === null) return undefined
  const { info, provider } = detail
  const field = (name: keyof typeof info) => read(() => info[name])
  const icon = field('icon')
  const name = lineOf(field('name')) || fallbackName
  const uuid = lineOf(field('uuid')) || name
  const rdns = lineOf(field('rdns')) || uuid
  const identity = [uuid, rdns, name].join('\n')
  const before = wallets.find((one) => one.provider === provider || one.identity === identity)
  if (before || wallets.length === WALLETS_MAX) return before
  const isImage = typeof icon === 'string' && icon.length <= ICON_CHARS_MAX && icon.startsWith('data:image/')
  // Two wallets of one id would be one for wagmi, and the buyer would pay from the other.
  const own = { uuid: uniqueId(uuid, (one) => one.uuid), rdns: uniqueId(rdns, (one) => one.rdns), name }
  const wallet = { info: Object.freeze({ ...own, icon: isImage ? icon : undefined }), provider, identity }
  wallets.push(Object.freeze(wallet))
  return wallet
}

/** Replaces each announcement by its checked form, or drops it. Call once, before anything listens. `fallbackName`: for a wallet without a name. */
export function checkAnnouncements(fallbackName: string): void {
  const ours = new WeakSet<Event>()
  const check = (event: Event) => {
    if (ours.has(event)) return
    event.stopImmediatePropagation()
    const detail = read(() => walletFrom((event as CustomEvent<Announced | null>).detail, fallbackName))
    if (!detail) return
    const clean = new CustomEvent(ANNOUNCE, { detail })
    ours.add(clean)
    window.dispatchEvent(clean)
  }
  window.addEventListener(ANNOUNCE, check, { capture: true })
}

/** The wallet in the page's `ethereum`, for wallets that do not announce themselves; undefined if there is none. */
export function pageEthereum(): EIP1193Provider | undefined {
  const { ethereum } = read(() => ({ ethereum: (window as { ethereum?: unknown }).ethereum })) ?? {}
  if (isProvider(ethereum)) return ethereum
  // Extensions that share the property put their wallets into a list.
  return read(() => (ethereum as { providers: readonly unknown[] }).providers.slice(0, WALLETS_MAX).find(isProvider))
}
