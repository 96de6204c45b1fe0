// The calldata of a payment by a buyer with a referral code: an ERC-8021 suffix, schema 0.
import { concat, numberToHex, stringToHex } from 'viem'
import { getCode } from 'viem/actions'
import type { Hex } from '../types.ts'
import type { WalletCall } from './errors.ts'
import { isContract, type OwnWallet } from './send.ts'

const CODE_FORM = /^[A-Za-z0-9_-]{1,32}$/
const SCHEMA = '0x00'
const MARKER = `0x${'8021'.repeat(8)}` as const

/** The calldata of a transfer with a code; capitals are the same code. Throws a TypeError if the code is malformed. */
export function referralSuffix(code: string): Hex {
  if (!CODE_FORM.test(code)) throw new TypeError('A referral code is 1 to 32 of a-z, 0-9, _ and -.')
  return concat([stringToHex(code.toLowerCase()), numberToHex(code.length, { size: 1 }), SCHEMA, MARKER])
}

/**
 * The transfer with a code in its calldata; null if the code must be left out. That is so if the payments wallet has code, because a Safe does not
 * accept ether with calldata. It is also so if the payer is a contract, whose calls cannot carry a code, if this transfer's gas cannot be estimated,
 * or if one of these facts cannot be read.
 */
export async function carries(wallet: OwnWallet, call: WalletCall, code: string): Promise<WalletCall | null> {
  const data = referralSuffix(code)
  const from = wallet.account.address
  const transaction = { from, to: call.to, value: numberToHex(call.valueWei), data }
  try {
    const [ofPayments, isOfContract] = await Promise.all([getCode(wallet, { address: call.to }), isContract(wallet)])
    if (isOfContract || (ofPayments !== undefined && ofPayments !== '0x')) return null
    await wallet.request({ method: 'eth_estimateGas', params: [transaction] })
    return { ...call, data }
  } catch {
    return null
  }
}
