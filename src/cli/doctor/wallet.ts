// Looks at the payments wallet: is it a wallet of its own, whose key no service holds and not everybody knows, and is it the one whose
// books the ledger keeps.
import type { ChainPart } from '../../boot/parts.ts'
import { lookAtWallet } from '../../boot/preflight.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import type { Pool } from '../../db/core/sql.ts'
import { readPaymentWallets, readWalletInForce } from '../../db/sale/payment-wallets.ts'
import { type Finding, fail, ok } from './finding.ts'

const ANOTHER = 'Change it with "node-ledger wallets set" to a wallet without code whose key no server holds.'

/** Checks that buyers can be given that address: it is none of the accounts that send, and its code's sends can be seen. */
export async function lookAtWalletKey(chain: ChainPart, rpc: Rpc, pool: Pool | null): Promise<Finding[]> {
  const check = 'wallet.key'
  const sold = pool && (await readWalletInForce(pool))
  const paymentAddress = sold ?? chain.paymentAddress
  if (paymentAddress === null) return []
  for (const wallet of new Set([paymentAddress, chain.paymentAddress ?? paymentAddress])) {
    const objection = await lookAtWallet(chain, rpc, wallet)
    if (objection) return [fail(check, objection.problem, wallet === sold ? ANOTHER : objection.remedy, { wallet })]
  }
  return [ok(check, 'the payments wallet is none of the accounts that send', { paymentAddress })]
}

/** Names the ledger's payments wallet, and the others that are still watched. */
export async function lookAtWalletChange(pool: Pool): Promise<Finding[]> {
  const check = 'wallet.ledger'
  const [wallets, wallet] = [await readPaymentWallets(pool), await readWalletInForce(pool)]
  if (wallet === null) return []
  const open = wallets.filter((known) => known.wallet !== wallet && known.closedBlock === null)
  const beside = open.length > 0 ? `; ${open.map((known) => known.wallet).join(', ')} watched beside it` : ''
  return [ok(check, `buyers pay to ${wallet}${beside}`, { wallet, wallets })]
}
