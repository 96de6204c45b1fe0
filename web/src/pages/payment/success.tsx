// The end of a purchase: the node, its next credit, and a receipt to print or keep.
import type { NodeDetail, Payment } from '@node-ledger/client'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { useNode } from '../../ledger.ts'
import { Countdown } from '../../ui/facts.tsx'
import { Picture } from '../../ui/picture.tsx'
import { fill, rich } from '../../words/message.ts'
import { words } from '../../words/payment.ts'
import { TierName } from '../ledger/nodes.tsx'
import { PurchaseReceipt } from './purchase-receipt.tsx'

const t = words.success

interface SuccessProps {
  Heading: 'h1' | 'h2'
  payment: Payment
  nodeId: string
  /** True if this browser sent the payment, or has the wallet that did. */
  isYours: boolean
  /** True if the node arrived while the page was open. The node's heading then takes the focus. */
  justCame: boolean
  /** True if the page shows several nodes. The receipt is then collapsed, and the heading is the link. */
  isOneOfSeveral: boolean
  /** What the connected wallet can do with the node. */
  children?: ReactNode
}

/** Shows the node that a payment has become. */
export function Success({ Heading, payment, nodeId, isYours, justCame, isOneOfSeveral, children }: SuccessProps) {
  const node = useNode(nodeId, 1).data
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // The focus stays if the buyer has turned to something else.
    if (justCame && isIdle()) heading.current?.focus()
  }, [justCame])
  return (
    <>
      <div className={justCame ? 'success came' : 'success'}>
        <Picture nodeId={nodeId} />
        <div>
          <header>
            <svg className="check" viewBox="0 0 48 48" width="32" height="32" aria-hidden="true">
              <circle cx="24" cy="24" r="22" />
              <path d="M14 25l7 7 13-15" pathLength="1" />
            </svg>
            <Heading ref={heading} tabIndex={-1}>
              {isOneOfSeveral ? (
                <Link href={`/node/${nodeId}`}>{fill(t.oneOf, { id: nodeId })}</Link>
              ) : (
                fill(isYours ? t.yours : t.minted, { id: nodeId })
              )}
            </Heading>
          </header>
          <p>
            <TierName id={payment.tierId} />
            {node && (
              <>
                {' · '}
                <NextCredit node={node} />
              </>
            )}
          </p>
          <div className="buttons">
            {!isOneOfSeveral && (
              <Link href={`/node/${nodeId}`} className="button main">
                {t.see}
              </Link>
            )}
            {children}
          </div>
          {isOneOfSeveral && (
            <details className="checked">
              <summary>{fill(words.receipt.title, { node: nodeId })}</summary>
              <PurchaseReceipt payment={payment} node={node ?? null} />
            </details>
          )}
        </div>
      </div>
      {!isOneOfSeveral && <PurchaseReceipt payment={payment} node={node ?? null} />}
    </>
  )
}

/** True while nothing outside the payment has the focus. */
function isIdle(): boolean {
  const { activeElement } = document
  if (activeElement === null) return true
  return activeElement.querySelector('.payment') !== null || activeElement.closest('.payment, h1, h2') !== null
}

function NextCredit({ node: { nextCreditAt, expelledAt } }: { node: NodeDetail }) {
  if (expelledAt !== null) return t.expelled
  if (nextCreditAt === null) return t.notScheduled
  return rich(t.nextRound, { time: <Countdown to={nextCreditAt} isTurn /> })
}
