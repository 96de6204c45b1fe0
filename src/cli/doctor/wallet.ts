// Looks at the payments wallet: is it a wallet of its own, whose key no service holds and not everybody knows, and is it the one whose
// books the ledger keeps.
import { readView, viewCall } from '../../chain/calls.ts'
import type { Rpc } from '../../chain/rpc.ts'
import { readSetting } from '../../db/settings.ts'
import type { Pool } from '../../db/sql.ts'
import { readBooks } from '../../db/wallet.ts'
import { DEVELOPMENT_CHAINS } from '../../domain/chains.ts'
import { type Address, address } from '../../domain/units.ts'
import { EMBED_ACCOUNTS } from '../../embed/accounts.ts'
import { type ChainPart, sendersOf } from '../../parts.ts'
import type { FormerWallet } from '../../passes/steps/audit.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Payments to the wallet before come for about as long as its address is in pages, mails and address books. */
const FORMER_DAYS = 30
const ANOTHER = 'Set PAYMENT_ADDRESS to a wallet whose key no server holds.'

/** Whether it is one of the accounts that send: by the keys that are here, and by the factory's roles. */
export async function lookAtWalletKey(chain: ChainPart, rpc: Rpc): Promise<Finding[]> {
  const { paymentAddress, factory } = chain
  const check = 'wallet.key'
  if (paymentAddress === null) return []
  const ours = sendersOf(chain)
  for (const role of ['minter', 'distributor'] as const) {
    const { method, params } = viewCall(factory, 'latest', role, [])
    const onChain = address(readView(role, await rpc.request(method, params)))
    if (paymentAddress !== onChain && paymentAddress !== ours[role]) continue
    const says = `${paymentAddress} is the ${role}'s own account, whose key is on a server and which pays for gas: what buyers pay is in its reach, and does not add up`
    return [fail(check, says, ANOTHER, { paymentAddress, role })]
  }
  const development = chain.demoToken !== null || (chain.chainId !== null && DEVELOPMENT_CHAINS.includes(chain.chainId))
  const wellKnown = EMBED_ACCOUNTS.some((account) => account.address.toLowerCase() === paymentAddress)
  if (wellKnown && !development)
    return [fail(check, `${paymentAddress} is a development account, whose key everybody knows`, ANOTHER)]
  return [ok(check, 'the payments wallet is none of the accounts that send', { paymentAddress })]
}

/** Whether it is the wallet that the ledger knows. */
export async function lookAtWalletChange(pool: Pool, paymentAddress: Address | null): Promise<Finding[]> {
  const check = 'wallet.ledger'
  const wallet = (await readBooks(pool))?.wallet ?? null
  if (wallet === null || paymentAddress === null) return []
  if (wallet !== paymentAddress)
    return [
      fail(
        check,
        `PAYMENT_ADDRESS is ${paymentAddress}, and the ledger watches ${wallet}: payments to one of them are not seen`,
        `Give every instance the same PAYMENT_ADDRESS and restart it. If you changed it on purpose, look at ${wallet} for what buyers still send there: docs/RUNBOOK.md, "Change the payments wallet".`,
        { paymentAddress, wallet },
      ),
    ]
  const former = (await readSetting(pool, 'formerWallet')) as FormerWallet | null
  const days = former && (Date.now() / 1000 - former.untilTime) / 86_400
  if (former && former.wallet !== wallet && days !== null && days < FORMER_DAYS)
    return [
      warn(
        check,
        `buyers pay to ${wallet} since block ${former.untilBlock}, and paid to ${former.wallet} before: what is still sent there is not seen`,
        `Look at ${former.wallet} for payments after block ${former.untilBlock}, and pay them back: docs/RUNBOOK.md, "Change the payments wallet".`,
        former,
      ),
    ]
  return [ok(check, 'the ledger keeps the books of this wallet', { wallet })]
}
