// Offers a session to a wallet on another device: a QR code for its camera, a link for an app on the same phone, and the text itself.
import { useEffect, useState } from 'react'
import type { Connector } from 'wagmi'
import { CopyButton } from '../ui/copy.tsx'
import { words } from '../words/wallet.ts'
import type { Offer } from './offer.ts'
import { isPhone } from './phones.tsx'
import { Qr } from './qr.tsx'

const t = words.elsewhere

/** Shown while the connector waits for a wallet. Closing it withdraws the offer. */
export function Offered({ connector }: { connector: Connector & Offer }) {
  const [uri, setUri] = useState(connector.offered)
  useEffect(() => {
    const take = () => setUri(connector.offered())
    connector.emitter.on('message', take)
    take()
    return () => connector.emitter.off('message', take)
  }, [connector])
  useEffect(() => () => connector.withdrawOffer(), [connector])
  if (uri === null) return <p role="status">{t.waiting}</p>
  return (
    <div className="offered">
      {isPhone() && (
        <a href={uri} className="button main wide">
          {t.open}
        </a>
      )}
      <p role="status">{t.scan}</p>
      <Qr text={uri} label={t.qr} />
      <p className="note">
        {t.paste} <CopyButton text={uri} what={t.link} />
      </p>
      <p className="note">{t.relay}</p>
    </div>
  )
}
