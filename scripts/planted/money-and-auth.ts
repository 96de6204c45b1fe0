// Bugs of the rules about money and of who is let in, each one that loses somebody's money or opens somebody's door.
// See bugs.ts for what a bug is.

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is the text of other files

import { one, type PlantedBug } from './bugs.ts'

const JUDGE = 'test/domain/payment.test.ts'
const TIERS = 'test/domain/tiers.test.ts'
const SIGN_IN = 'test/http/sign-in.test.ts'
const HEADERS = 'test/http/headers.test.ts'
const PAYMENT = 'src/domain/payment.ts'
const SESSION = 'src/http/session.ts'
const VERIFY = 'src/http/routes/auth-verify.ts'

export const MONEY_AND_AUTH_BUGS: readonly PlantedBug[] = [
  one(
    'one node more than the allowance is sold',
    PAYMENT,
    'facts.tierNodes + facts.tierInFlight >= selection.tier.maxPerWallet',
    'facts.tierNodes + facts.tierInFlight > selection.tier.maxPerWallet',
    JUDGE,
  ),
  one(
    'wallets that the operator wants to see first are minted to at once',
    PAYMENT,
    "  if (facts.senderDenied) return held('senderDenied', {})\n",
    '',
    JUDGE,
  ),
  one(
    'a holding that nobody read is passed',
    PAYMENT,
    "      return { kind: 'undecided' }\n  }",
    "      return { kind: 'enough', evidence: {} }\n  }",
    JUDGE,
  ),
  one(
    'an unreadable holding is passed when the time to ask again is over',
    PAYMENT,
    "return { kind: 'short', evidence: { ...needed, holdingReadWei: null, unreadable: true } }",
    "return { kind: 'enough', evidence: { ...needed, holdingReadWei: null, unreadable: true } }",
    JUDGE,
  ),
  one(
    'an old price buys for ever',
    'src/domain/tiers.ts',
    'payment.blockTime - next.fromTime < graceSec',
    'graceSec > 0',
    TIERS,
  ),
  one(
    'a price has no grace at all',
    'src/domain/tiers.ts',
    'payment.blockTime - next.fromTime < graceSec',
    'graceSec < 0',
    TIERS,
  ),
  one(
    'the price of today decides about a payment of yesterday',
    'src/domain/tiers.ts',
    '(v) => v.fromBlock <= payment.blockNumber',
    '(v) => v.fromBlock <= payment.blockNumber + 1_000_000',
    TIERS,
  ),
  one(
    'a draw never reaches the end of its range',
    'src/domain/credit.ts',
    '(terms.maxWei - terms.minWei + 1n)',
    '(terms.maxWei - terms.minWei)',
    'test/domain/credit.test.ts',
  ),
  one(
    'the seed of a turn is that of the block before',
    'src/passes/steps/seeds.ts',
    'seed: seedOf(found.block, found.parent)',
    'seed: seedOf(found.parent ?? found.block, found.parent)',
    'test/passes/credit.test.ts',
    'test/passes/main-job.test.ts',
  ),
  one(
    'a pass goes on although the service is halted',
    'src/passes/steps/halt.ts',
    'if (halt?.sealed) throw',
    'if (halt?.sealed && halt.reason === null) throw',
    'test/audit/halt.test.ts',
  ),
  one(
    'rounds are sent while crediting is paused',
    'src/passes/credit.ts',
    "if (await isPaused(ctx, cursor)) return outcome({ reason: 'paused', dueNodes })",
    "if (!(await isPaused(ctx, cursor)) && !cursor) return outcome({ reason: 'paused', dueNodes })",
    'test/passes/credit.test.ts',
  ),
  one(
    'rounds that are gone with their blocks stay in the ledger',
    'src/passes/steps/rewind.ts',
    'await rewindRounds(sql, height)',
    'await rewindRounds(sql, Number.MAX_SAFE_INTEGER)',
    'test/passes/reorganisation.test.ts',
  ),
  one(
    'a claim lets a later payment pass an earlier one',
    'src/passes/steps/judge.ts',
    '[...seen, ...roomy].sort(payments.byPlace)',
    '[...seen, ...roomy].sort((a, b) => payments.byPlace(b, a))',
    'test/passes/payments.test.ts',
    'test/passes/claim.test.ts',
  ),
  one(
    'a withdrawal that succeeded counts as failed',
    'src/chain/observe.ts',
    'if (to === watched.factory && !succeeded && isWithdrawCall(tx.input)) {',
    'if (to === watched.factory && isWithdrawCall(tx.input)) {',
    'test/chain/observe.test.ts',
  ),
  one(
    'one refund proves two payments',
    'src/operator/refund.ts',
    '    if (!recorded)\n',
    '    if (!recorded && recorded !== false)\n',
    'test/operator/held.test.ts',
  ),
  one(
    'a refund of another amount is believed',
    'src/operator/refund.ts',
    'if (tx.valueWei !== payment.valueWei)',
    'if (tx.valueWei > payment.valueWei)',
    'test/operator/held.test.ts',
  ),
  one(
    'wei leave as numbers',
    'src/http/route.ts',
    "typeof inner === 'bigint' ? inner.toString() : inner",
    "typeof inner === 'bigint' ? Number(inner) : inner",
    'test/http/cron.test.ts',
    'test/operator/held.test.ts',
  ),
  one(
    'a nonce signs in as often as its cookie is sent',
    VERIFY,
    '(await ask((sql) => spendNonce(sql, hash, KEPT_SEC))) ? nonce : null',
    '(await ask((sql) => spendNonce(sql, hash, KEPT_SEC))) || nonce ? nonce : null',
    SIGN_IN,
  ),
  one(
    'who signed is not compared with who wants in',
    VERIFY,
    'if (signer === wallet) return true',
    'if (signer !== null) return true',
    SIGN_IN,
  ),
  one(
    'a session never ends',
    SESSION,
    'if (Number(expiry) > this.#now()) return',
    'if (Number(expiry) > 0) return',
    'test/http/session.property.test.ts',
    SIGN_IN,
  ),
  one(
    'a nonce never lapses',
    SESSION,
    'if (now >= issuedAt + NONCE_SEC || now < issuedAt) return null',
    'if (now < issuedAt) return null',
    'test/http/session.property.test.ts',
    SIGN_IN,
  ),
  one(
    'signatures of cookies are compared as bytes, of which base64url has several spellings',
    SESSION,
    'sameSecret(given, mac(payload, key))',
    "sameSecret(Buffer.from(given, 'base64url').toString('hex'), Buffer.from(mac(payload, key), 'base64url').toString('hex'))",
    'test/http/session.property.test.ts',
    SIGN_IN,
  ),
  one('a signature in the upper half is taken', 'src/http/signature.ts', 's <= HALF', 's < ORDER', SIGN_IN),
  one(
    'a key sent twice is a key',
    'src/http/secrets.ts',
    'return more.length === 0 ? value : null',
    'return value',
    'test/http/cron.test.ts',
  ),
  one(
    'x-forwarded-for is believed from anybody',
    'src/http/client-address.ts',
    " || forwardedFor === '' || !isTrusted(nearest)) return",
    " || forwardedFor === '') return",
    'test/http/client-address.test.ts',
  ),
  one(
    'answers to a session may be kept by caches',
    'src/http/reply.ts',
    "reply.header('cache-control', isPrivate ? PRIVATE_NO_STORE : route.cache)",
    "reply.header('cache-control', route.cache)",
    HEADERS,
    SIGN_IN,
  ),
  one(
    'errors may be kept by caches',
    'src/http/reply.ts',
    "reply.header('cache-control', isPrivate ? PRIVATE_NO_STORE : NO_STORE)",
    "reply.header('cache-control', isPrivate ? PRIVATE_NO_STORE : 'public, max-age=60')",
    HEADERS,
  ),
  one(
    'a page of another origin acts with the operator’s key',
    'src/http/routes/admin/door.ts',
    "call.method === 'POST' && !isOwnOrigin(call.raw.headers.origin)",
    "call.method === 'PUT' && !isOwnOrigin(call.raw.headers.origin)",
    'test/http/admin.test.ts',
  ),
]
