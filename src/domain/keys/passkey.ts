// The party that browsers make passkeys for: the name that a passkey is bound to, and the origin that its signatures must name.

/** The names of one's own machine, as URLs have them. */
const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
const IPV4 = /^\d+(\.\d+){3}$/

export interface RelyingParty {
  readonly id: string
  readonly origin: string
}

/**
 * The relying party of a service at this URL. Null where browsers make no passkey: at an address without a name, and over http, which anyone on the
 * way can change. One's own machine is `localhost`, by whichever name the URL has it.
 */
export function relyingPartyAt(publicUrl: string): RelyingParty | null {
  const { protocol, hostname, port, origin } = new URL(publicUrl)
  if (LOOPBACK.includes(hostname))
    return { id: 'localhost', origin: `${protocol}//localhost${port === '' ? '' : `:${port}`}` }
  const isName = !hostname.startsWith('[') && !IPV4.test(hostname)
  return protocol === 'https:' && isName ? { id: hostname, origin } : null
}

/** The page that an invitation opens. The code is in the part that browsers send to nobody. */
export const invitationLink = ({ origin }: RelyingParty, code: string): string => `${origin}/console#invite=${code}`
