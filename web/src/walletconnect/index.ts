// The sessions with wallets on other devices, by the last version of WalletConnect's client under an open licence. Built into a file of its own,
// which shares nothing with the pages and is loaded once somebody asks for it, or has a session. It reads no chain: what it hands on, a wallet
// decides about. It tells nobody but the relay anything, and the relay no more than it needs.
import { SignClient } from '@walletconnect/sign-client'
import type { Failed, Options, Reason, Session, Sessions } from './types.ts'

/** As few as the pages use. The last two are of contract wallets (EIP-5792). A wallet may take less. */
const METHODS = ['eth_sendTransaction', 'personal_sign', 'wallet_sendCalls', 'wallet_getCallsStatus']
const EVENTS = ['accountsChanged']
/** Limit for the relay, in milliseconds. Its own connection is tried again for a minute, which nobody waits for. */
const RELAY_MS = 15_000
/** The same when a session ends: the page has forgotten it already. */
const END_MS = 3_000

/** Starts the client. Sessions that are kept in this browser are there at once. */
export async function open({ projectId, relayUrl, name, chainId }: Options): Promise<Sessions> {
  const { origin } = window.location
  const metadata = { name, description: name, url: origin, icons: [`${origin}/icon.svg`] }
  const client = await SignClient.init({ projectId, relayUrl, metadata, telemetryEnabled: false, logger: 'silent' })
  keepQuiet(client)
  const chain = `eip155:${chainId}`
  const find = (topic: string) => (client.session.keys.includes(topic) ? sessionOf(client, topic, chain) : null)
  return {
    find,
    offer: async () => {
      const optionalNamespaces = { eip155: { chains: [chain], methods: METHODS, events: EVENTS } }
      const { uri, approval } = await within(RELAY_MS, client.connect({ optionalNamespaces }))
      if (!uri) throw failed('unreachable')
      const approved = approval().then(
        ({ topic }) => withAccount(client, sessionOf(client, topic, chain)),
        (error: unknown) => {
          throw isExpiry(error) ? failed('expired') : error
        },
      )
      return { uri, approved }
    },
    request: async (topic, method, params) => {
      await connected(client)
      const asked = client.request({ topic, chainId: chain, request: { method, params } })
      return asked.catch((error: unknown) => {
        throw isExpiry(error) ? failed('expired') : error
      })
    },
    end: (topic) => end(client, topic),
    onChange: (listen) => {
      const changed = ({ topic }: { topic: string }) => listen(topic, find(topic))
      client.on('session_update', changed)
      client.on('session_delete', changed)
      client.on('session_expire', changed)
      client.on('session_event', ({ topic, params: { event } }) => {
        const session = find(topic)
        if (event.name !== 'accountsChanged' || !session) return
        // Some wallets name the chain with each account, others do not.
        const accounts = (event.data as string[]).filter((text) => !text.includes(':') || text.startsWith(`${chain}:`))
        listen(topic, { ...session, accounts: accounts.map((text) => text.split(':').at(-1) ?? '') })
      })
    },
  }
}

type Client = Awaited<ReturnType<typeof SignClient.init>>

/**
 * Two things that this version does for its maker are left out. A frame of a server of theirs, for which each request would wait five seconds
 * where a policy admits no frame. And with each message, in clear for the relay, which contract is called by which method.
 */
function keepQuiet({ core }: Client): void {
  core.verify.register = async () => ''
  const publish = core.relayer.publish.bind(core.relayer)
  core.relayer.publish = (topic, message, { tvf: _, ...options } = {}) => publish(topic, message, options)
}

function sessionOf(client: Client, topic: string, chain: string): Session {
  const { accounts = [], methods = [] } = client.session.get(topic).namespaces.eip155 ?? {}
  const own = accounts.filter((text) => text.startsWith(`${chain}:`))
  return { topic, methods, accounts: own.map((text) => text.slice(chain.length + 1)) }
}

/** A wallet that does not know the chain may agree all the same, and has no account on it. */
async function withAccount(client: Client, session: Session): Promise<Session> {
  if (session.accounts.length > 0) return session
  await end(client, session.topic)
  throw failed('otherChain')
}

/** Waits for the relay before anything is sent, so that nothing goes out later that the page has given up. */
async function connected({ core: { relayer } }: Client): Promise<void> {
  if (relayer.connected) return
  const there = new Promise<void>((resolve) => relayer.once('relayer_connect', () => resolve()))
  relayer.transportOpen().catch(() => undefined)
  await within(RELAY_MS, there)
}

async function end(client: Client, topic: string): Promise<void> {
  const reason = { code: 6000, message: 'User disconnected.' }
  await within(END_MS, client.disconnect({ topic, reason })).catch(() => undefined)
  if (client.session.keys.includes(topic)) await client.session.delete(topic, reason)
}

const isExpiry = (error: unknown) => error instanceof Error && /expired/i.test(error.message)

const failed = (reason: Reason): Failed => Object.assign(new Error(reason), { reason })

/** What does not come in time is the relay's fault, as is what it throws itself. */
function within<T>(limitMs: number, act: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failed('unreachable')), limitMs)
  })
  const refused = act.catch(() => {
    throw failed('unreachable')
  })
  return Promise.race([refused, late]).finally(() => clearTimeout(timer))
}
