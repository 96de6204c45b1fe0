// Random histories of ether: each event is entered in a journal, by name on both sides, and as the rows that the ledger keeps of it.
import fc from 'fast-check'
import { account, at, type Row, type Rows, word } from '../../db/direct-rows.ts'
import type { Entry, Party } from './statement.ts'

export const ADDRESSES: Record<Party, string> = {
  ...{ outside: account(1), wallet1: account(2), wallet2: account(3) },
  ...{ factory: account(4), minter: account(5), distributor: account(6) },
}
const WALLETS = ['wallet1', 'wallet2'] as const
const SENDERS = ['minter', 'distributor'] as const

const block = fc.constantFrom(4, 5, 6, 9, 10, 11)
const wei = fc.constantFrom(1n, 2n, 10n, 10n ** 24n + 1n)
const feeWei = fc.constantFrom(0n, 1n, 7n)
const wallet = fc.constantFrom(...WALLETS)
const sender = fc.constantFrom(...SENDERS)

const events = fc.oneof(
  fc.record({
    kind: fc.constant('payment' as const),
    ...{ block, wallet, wei },
    state: fc.constantFrom('seen', 'accepted', 'held', 'ignored', 'refunded', 'dismissed', 'orphaned'),
    isResidue: fc.boolean(),
    isFailed: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('dust' as const), block, wallet, wei }),
  /** Transfers of a payments wallet in one transaction: one of its own, or several inside it. */
  fc.record({
    kind: fc.constant('outflow' as const),
    ...{ block, wallet, feeWei, isFailed: fc.boolean(), isInner: fc.boolean(), isUnexplained: fc.boolean() },
    transfers: fc.array(
      fc.record({
        to: fc.constantFrom<Party>(
          'outside',
          'outside',
          'outside',
          'outside',
          'factory',
          'minter',
          'wallet1',
          'wallet2',
        ),
        wei: fc.constantFrom(1n, 1n, 2n),
        proves: fc.constantFrom('refunds', 'refunds', 'commissions', null),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      ...{
        block,
        sender,
        wei,
        feeWei,
        /** Null creates a contract with the value. */
        to: fc.constantFrom<Party | null>('outside', 'factory', 'wallet1', 'minter', 'distributor', null, null),
      },
      of: fc.constantFrom('mint', 'foreign', 'foreign', 'displaced', 'reverted', 'round', 'roundByHand', 'swapsRound'),
    }),
  },
  fc.record({ kind: fc.constant('strangersRound' as const), block, wei }),
  fc.record({
    kind: fc.constant('withdrawal' as const),
    ...{ block, wei, to: fc.constantFrom<Party>('outside', 'minter'), isFailed: fc.boolean() },
  }),
  fc.record({ kind: fc.constant('deposit' as const), block, wei, to: fc.constantFrom<Party>('factory', 'minter') }),
  fc.record({ kind: fc.constant('sweep' as const), block, wei }),
)
export type Event = typeof events extends fc.Arbitrary<infer T> ? T : never
export const histories = fc.array(events, { minLength: 1, maxLength: 10 })

interface Transfer {
  block: number
  wallet: Party
  to: Party
  wei: bigint
  feeWei: bigint
  proves: 'refunds' | 'commissions' | null
  txHash: string
  inner: number
  place: number
}

/** What a sender may have in a block: by hand, or by an intent, or in place of one. */
const SENDS = {
  mint: { kind: 'mint', state: 'mined', isByHand: false, makesRound: false, hasValue: false },
  reverted: { kind: 'credit', state: 'reverted', isByHand: false, makesRound: false, hasValue: false },
  round: { kind: 'credit', state: 'mined', isByHand: false, makesRound: true, hasValue: true },
  swapsRound: { kind: 'credit', state: 'mined', isByHand: false, makesRound: true, hasValue: false },
  roundByHand: { kind: 'foreign', state: 'displaced', isByHand: false, makesRound: true, hasValue: true },
  foreign: { kind: 'foreign', state: 'displaced', isByHand: true, makesRound: false, hasValue: true },
  displaced: { kind: 'credit', state: 'displaced', isByHand: true, makesRound: false, hasValue: true },
} as const

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

/** Enters events one after another. */
export class Books {
  readonly journal: Entry[] = []
  readonly rows: Rows = {
    payment_wallets: WALLETS.map((name, n) => ({
      ...{ id: 1 + n, wallet: ADDRESSES[name], from_block: 0, from_time: 0, watched_from: 0, entered_by: 'test' },
    })),
  }
  /** Hashes, ids and log indexes: each is used once. */
  private serial = 100

  enter(event: Event): void {
    if (event.kind === 'payment') this.payment(event)
    else if (event.kind === 'dust') this.dust(event)
    else if (event.kind === 'outflow') this.outflow(event)
    else if (event.kind === 'send') this.send(event)
    else if (event.kind === 'withdrawal') this.withdrawal(event)
    else this.rest(event)
  }

  private add(table: string, row: Row): void {
    this.rows[table] = [...(this.rows[table] ?? []), row]
  }

  private move(entry: Pick<Entry, 'block' | 'from' | 'to' | 'wei'> & Partial<Entry>): void {
    this.journal.push({ feeWei: 0n, out: null, in: null, ...entry })
  }

  private arrive(to: Party, from: Party, { block, wei }: { block: number; wei: bigint }, more: Row): void {
    this.serial += 1
    this.add('payments', {
      ...{ id: this.serial, ref: word(this.serial), tx_hash: word(this.serial), wallet: ADDRESSES[to], value_wei: wei },
      ...{
        from_address: ADDRESSES[from],
        succeeded: true,
        state: 'ignored',
        reason: 'operator',
        block_time: at(block),
        tx_index: 0,
      },
      ...{ ...inBlock(block), ...more },
    })
  }

  private payment(event: Event & { kind: 'payment' }): void {
    const { block, wallet, wei, state, isFailed } = event
    const isResidue = event.isResidue && ['held', 'dismissed', 'refunded'].includes(state)
    const reason = state === 'held' ? 'unattributed' : state === 'ignored' ? (isFailed ? 'failed' : 'zero') : null
    const succeeded = !(state === 'ignored' && isFailed)
    const out = state === 'orphaned' ? { block_number: null, block_hash: null } : {}
    const unknown = isResidue ? { tx_hash: null, from_address: null } : {}
    this.arrive(wallet, 'outside', event, { state, reason, succeeded, tier_id: 'basic', ...unknown, ...out })
    if (!succeeded || state === 'orphaned') return
    const name = isResidue ? 'arrivedUnattributed' : state === 'ignored' ? 'arrivedIgnored' : 'payments'
    this.move({ block, from: 'outside', to: wallet, wei, in: name })
  }

  private dust({ block, wallet, wei }: Event & { kind: 'dust' }): void {
    this.serial += 1
    const bytes = (hex: string) => `\\x${hex.slice(2)}`
    this.add('dust', {
      ...{
        block_number: block,
        tx_index: 0,
        wallet_id: 1 + WALLETS.indexOf(wallet),
        tx_hash: bytes(word(this.serial)),
      },
      ...{ from_address: bytes(account(1)), value_wei: wei },
    })
    this.move({ block, from: 'outside', to: wallet, wei, in: 'dust' })
  }

  private outflow({ transfers, ...event }: Event & { kind: 'outflow' }): void {
    this.serial += 1
    const txHash = word(this.serial)
    const isInner = event.isInner || transfers.length > 1
    if (isInner) {
      for (const [n, one] of transfers.entries()) {
        const earlier = transfers.slice(0, n).filter(({ to }) => to === one.to).length
        this.transfer({ ...event, ...one, feeWei: 0n, txHash, inner: 1 + n, place: 1 + earlier })
      }
      return
    }
    const [only] = transfers
    if (only === undefined) return
    if (event.isUnexplained) this.unexplained({ ...event, wei: only.wei })
    else if (event.isFailed) this.transfer({ ...event, ...only, wei: 0n, proves: null, txHash, inner: 0, place: 0 })
    else this.transfer({ ...event, ...only, txHash, inner: 0, place: 0 })
  }

  /** A transfer of a payments wallet; `place` is its number among those of the transaction to its recipient. */
  private transfer(one: Transfer): void {
    const { block, wallet, to, wei, feeWei, txHash, inner, place } = one
    const proves = to === 'outside' ? one.proves : null
    this.serial += 1
    this.add('wallet_outflows', {
      ...{
        ref: word(this.serial),
        tx_hash: txHash,
        inner_index: inner,
        wallet: ADDRESSES[wallet],
        to_address: ADDRESSES[to],
      },
      ...{ value_wei: wei, fee_wei: feeWei, from_block: null, block_time: at(block), ...inBlock(block) },
    })
    if (proves !== null)
      this.add('refunds', {
        ...{
          payment_ref: proves === 'refunds' ? word(this.serial) : null,
          commission_of: proves === 'refunds' ? null : 'ann',
        },
        ...{ tx_hash: txHash, inner_index: place, from_address: ADDRESSES[wallet], to_address: ADDRESSES[to] },
        ...{ value_wei: wei, recorded_by: 'test', ...inBlock(block) },
      })
    const isToWallet = to === 'wallet1' || to === 'wallet2'
    if (isToWallet && wei > 0n) this.arrive(to, wallet, { block, wei }, { reason: to === wallet ? 'self' : 'operator' })
    if (to === 'factory' && wei > 0n) this.received(block, txHash, { from: wallet, wei })
    const names = { out: proves ?? 'sent', in: isToWallet ? 'arrivedIgnored' : 'fromPaymentsWallet' }
    this.move({ block, from: wallet, to, wei, feeWei, ...names })
  }

  private unexplained({ block, wallet, wei }: { block: number; wallet: Party; wei: bigint }): void {
    this.serial += 1
    this.add('wallet_outflows', {
      ...{
        ref: word(this.serial),
        tx_hash: null,
        inner_index: 0,
        wallet: ADDRESSES[wallet],
        to_address: null,
        value_wei: wei,
      },
      ...{ fee_wei: 0n, from_block: block, block_time: at(block), ...inBlock(block) },
    })
    this.move({ block, from: wallet, to: 'outside', wei, out: 'leftUnattributed' })
  }

  private send(event: Event & { kind: 'send' }): void {
    const { block, sender, feeWei } = event
    const { kind, state, isByHand, makesRound, hasValue } = SENDS[event.of]
    this.serial += 1
    const txHash = word(this.serial)
    const wei = hasValue ? event.wei : 0n
    const recipient = isByHand ? event.to : 'factory'
    const to: Party = recipient ?? 'outside'
    this.add('outbox', {
      ...{ kind, state, sender: ADDRESSES[sender], nonce: this.serial, call: '{}', gas_limit: 1 },
      ...{ valid_until: kind === 'foreign' ? null : 1, tx_hash: txHash, gas_used: 1, fee_wei: feeWei, value_wei: wei },
      ...{ to_address: recipient && ADDRESSES[recipient], ...inBlock(block) },
    })
    if (makesRound) this.round(block, txHash, { wei: event.wei, mode: hasValue ? 'treasury' : 'swaps' })
    if (to === 'wallet1') this.arrive(to, sender, { block, wei }, {})
    if (isByHand && to === 'factory') this.received(block, txHash, { from: sender, wei })
    const names = makesRound
      ? { out: 'rounds', in: 'rounds' }
      : { out: 'sent', in: to === 'wallet1' ? 'arrivedIgnored' : 'fromSenders' }
    // What a sender sends to itself does not move.
    this.move({ block, from: sender, to, wei, feeWei, ...(to === sender ? {} : names) })
  }

  /** The contract says of every plain transfer to it that it came. */
  private received(block: number, txHash: string, { from, wei }: { from: Party; wei: bigint }): void {
    this.act('EtherReceived', { sender: ADDRESSES[from], amount: String(wei) }, { block, txHash })
  }

  private act(name: string, detail: object, { block, txHash }: { block: number; txHash: string }): void {
    this.serial += 1
    const row = { log_index: this.serial, name, detail: JSON.stringify(detail), at: at(block), tx_hash: txHash }
    this.add('owner_acts', { ...row, ...inBlock(block) })
  }

  private round(block: number, txHash: string, { wei, mode }: { wei: bigint; mode: string }): void {
    this.serial += 1
    const done = { tx_hash: txHash, created_at: at(block), ...inBlock(block) }
    this.add('rounds', { round: this.serial, mode, total_wei: wei, node_count: 1, ...done })
  }

  private withdrawal({ block, wei, to, isFailed }: Event & { kind: 'withdrawal' }): void {
    this.serial += 1
    this.add('withdrawals', {
      ...{
        node_id: 1,
        amount_wei: wei,
        withdrawn_total_wei: isFailed ? null : wei,
        to_address: ADDRESSES[to],
      },
      ...{
        tx_hash: word(this.serial),
        log_index: isFailed ? null : 0,
        status: isFailed ? 'failed' : 'sent',
        created_at: at(block),
      },
      ...inBlock(block),
    })
    if (!isFailed)
      this.move({ block, from: 'factory', to, wei, out: 'withdrawals', in: to === 'minter' ? 'withdrawnTo' : null })
  }

  private rest(event: Event & { kind: 'strangersRound' | 'deposit' | 'sweep' }): void {
    const { block, wei } = event
    this.serial += 1
    const txHash = word(this.serial)
    if (event.kind === 'strangersRound') {
      this.round(block, txHash, { wei, mode: 'treasury' })
      this.move({ block, from: 'outside', to: 'factory', wei, in: 'rounds' })
    } else if (event.kind === 'sweep') {
      this.act('Swept', { to: ADDRESSES.outside, amount: String(wei) }, { block, txHash })
      this.move({ block, from: 'factory', to: 'outside', wei, out: 'swept' })
    } else {
      const isStray = event.to === 'factory'
      if (isStray) this.received(block, txHash, { from: 'outside', wei })
      // A top-up of a signer from elsewhere leaves no row.
      this.move({ block, from: 'outside', to: event.to, wei, in: isStray ? 'strayEther' : null })
    }
  }
}
