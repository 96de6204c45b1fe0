// The referral code with which the buyer came, and a button that forgets it. Shown before the code that pays has loaded, which alone knows whether a
// payment can include the code.
import type { ReactNode } from 'react'
import { removeReferral, useReferral } from '../../referral.ts'
import { words } from '../../words/checkout.ts'
import { rich } from '../../words/message.ts'

const t = words.referral

/** The code as it is kept. Renders nothing if there is none. */
export function CameWith() {
  const code = useReferral()
  return code && <OfCode>{rich(t.came, { code: <Code of={code} /> })}</OfCode>
}

export const Code = ({ of }: { of: string }) => <strong translate="no">{of}</strong>

/** A sentence about the code. */
export const OfCode = ({ children }: { children: ReactNode }) => (
  <p className="referred">
    <span>{children}</span>
    <button type="button" className="button quiet" onClick={removeReferral}>
      {t.remove}
    </button>
  </p>
)
