// The part that works with viem: wallets, and reading the chain oneself.
export { WalletError, type WalletErrorCode } from './errors.ts'
export { factoryAbi, inWords } from './factory.ts'
export type { OwnWallet } from './send.ts'
export {
  type ChainClient,
  type CoverOnChain,
  type NodeOnChain,
  recompute,
  type Verified,
  type VerifiedRound,
  type VerifiedTurn,
  verifyCover,
  verifyNode,
  verifyRound,
} from './verify.ts'
export {
  type BuyOptions,
  buy,
  signIn,
  type Withdrawn,
  type WithdrawOptions,
  withdraw,
  withdrawAll,
} from './wallet.ts'
