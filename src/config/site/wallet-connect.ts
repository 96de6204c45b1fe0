// Reads the settings of WalletConnect: the operator's own project with the relay's operator, and the relay. Without a project the pages offer
// none, and their policy admits no relay.
import { type Source, shown } from '../source.ts'
import { parseUrl, readText } from '../values.ts'

export interface WalletConnectConfig {
  /** Everybody is shown it: it names the account that the relay counts for. */
  readonly projectId: string
  /** Without a slash at its end. */
  readonly relayUrl: string
}

/** The relay that the pages' library asks by itself. */
const RELAY_URL = 'wss://relay.walletconnect.org'
const PROJECT_ID = {
  form: /^[0-9a-f]{32}$/,
  remedy: 'set it to the 32 hex digits of a project, as its operator shows them',
}
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Null where no project is named. */
export function readWalletConnect(source: Source, embedded: boolean): WalletConnectConfig | null {
  const projectId = readText(source, 'WALLETCONNECT_PROJECT_ID', PROJECT_ID, null)
  const relayUrl = readRelayUrl(source)
  if (projectId === null) {
    if (source.isSet('WALLETCONNECT_RELAY_URL') && !source.isSet('WALLETCONNECT_PROJECT_ID'))
      source.warn('WALLETCONNECT_RELAY_URL', 'is set but WALLETCONNECT_PROJECT_ID is not: no page asks that relay')
    return null
  }
  if (!embedded && !source.isSet('PUBLIC_RPC_URL'))
    source.refuse(
      'WALLETCONNECT_PROJECT_ID',
      'needs PUBLIC_RPC_URL: a wallet at the other end of a relay answers no reads of the chain',
    )
  return { projectId, relayUrl }
}

function readRelayUrl(source: Source): string {
  const text = source.get('WALLETCONNECT_RELAY_URL')
  if (text === null) return RELAY_URL
  const url = parseUrl(text, ['wss:', 'ws:'])
  const mistake = url === null ? `is ${shown(text)}, which is no URL of a relay` : relayMistake(url)
  if (mistake !== null) source.refuse('WALLETCONNECT_RELAY_URL', `${mistake}: set it to wss://…`)
  return url?.href.replace(/\/+$/, '') ?? RELAY_URL
}

function relayMistake({ protocol, hostname, username, password, search, hash }: URL): string | null {
  if (username !== '' || password !== '') return 'contains a user or password, and is shown to everybody'
  if (search !== '' || hash !== '') return 'has a query or fragment, and the library puts its own after it'
  return protocol === 'ws:' && !LOOPBACK.test(hostname) ? 'is ws, over which anyone on the way can listen' : null
}
