// What the pages and the library for wallets on other devices say to each other. They are built apart, and share types alone.

export interface Options {
  projectId: string
  relayUrl: string
  /** Whose page asks, as the wallet shows it. */
  name: string
  /** The one chain that is asked for. */
  chainId: number
}

/** Why nothing came of it: the relay did not answer, nobody answered in time, or the wallet does not have the chain. */
export type Reason = 'unreachable' | 'expired' | 'otherChain'

/** Thrown by this file for what it knows the reason of. Everything else is thrown as it came: the wallet's own errors have a `code`. */
export interface Failed extends Error {
  reason: Reason
}

export interface Session {
  topic: string
  /** On the one chain. */
  accounts: readonly string[]
  /** What the wallet takes. */
  methods: readonly string[]
}

export interface Sessions {
  /** Offers a session. `uri` is for the wallet to read; `approved` settles when the wallet has decided. */
  offer(): Promise<{ uri: string; approved: Promise<Session> }>
  /** The session of a topic, if it is still there. */
  find(topic: string): Session | null
  /** Has the wallet do something, which its owner is asked about. */
  request(topic: string, method: string, params: unknown): Promise<unknown>
  /** Ends it here, and at the wallet as far as the relay can be reached. */
  end(topic: string): Promise<void>
  /** Calls back with the session as it is now, or null once it is over. */
  onChange(listen: (topic: string, session: Session | null) => void): void
}
