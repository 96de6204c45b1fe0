// The relying party for which browsers make passkeys: the host name to which a passkey is bound, and the origin that its signatures must name.

/** The names of the local machine that occur in URLs. */
const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
/** The URL parser lets no other host consist of these alone. */
const IPV4 = /^[\d.]+$/

export interface RelyingParty {
  readonly id: string
  readonly origin: string
}

/**
 * The relying party of a service at this URL. Null if browsers make no passkeys there: at an address without a name, or over http, which anyone on
 * the path can change. The local machine is always `localhost`, whichever name the URL uses.
 */
export function relyingPartyAt(publicUrl: string): RelyingParty | null {
  const { protocol, hostname, port, origin } = new URL(publicUrl)
  if (LOOPBACK.includes(hostname))
    return { id: 'localhost', origin: `${protocol}//localhost${port === '' ? '' : `:${port}`}` }
  const isName = !hostname.startsWith('[') && !IPV4.test(hostname)
  return protocol === 'https:' && isName ? { id: hostname, origin } : null
}

/** The page that an invitation opens. The code is in the fragment, which browsers do not send. */
export const invitationLink = ({ origin }: RelyingParty, code: string): string => `${origin}/console#invite=${code}`
