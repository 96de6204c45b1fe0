// The part that needs viem: wallets, and reading the chain directly.
export { type VerifiedAllocation, type VerifiedList, verifyAllowlist, verifyAllowlisted } from './allowlist.ts'
export {
  type BuyOptions,
  buy,
  type Order,
  type Paid,
  type PayOptions,
  type Purchase,
  type Purchases,
  type Stopped,
  sendPayments,
  type Transfer,
} from './buy.ts'
export { type WalletCall, WalletError, type WalletErrorCode } from './errors.ts'
export { factoryAbi, inWords } from './factory.ts'
export { carries, referralSuffix } from './referral.ts'
export { isContract, type OwnWallet } from './send.ts'
export { type RecomputedTurn, recompute, recomputeRound } from './turns.ts'
export { type VerifiedVerdict, type VerifiedVerdicts, verifyVerdict } from './verdict.ts'
export {
  type ChainClient,
  type CoverOnChain,
  type NodeOnChain,
  type Verified,
  type VerifiedRound,
  type VerifiedTurn,
  type VerifyOptions,
  verifyCover,
  verifyNode,
  verifyRound,
} from './verify.ts'
export {
  type Directory,
  declineGifts,
  declinesGifts,
  type Payout,
  type SendOptions,
  signIn,
  type WithdrawalRequest,
  type Withdrawn,
  type WithdrawOptions,
  withdraw,
  withdrawAll,
  withdrawalCall,
} from './wallet.ts'
