// Every parser of callers' input, against obvious references: millions of inputs, most of them nearly right.
// PROPERTY_SCALE=10 tries ten times as many, PROPERTY_SEED=<seed> the same ones again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { getAddress } from 'viem'
import { type Address, address, hash, parseWei, UINT256_MAX, wei } from '../../src/domain/units.ts'
import { clientFinder } from '../../src/http/edge/client-address.ts'
import { parseAddress, parseHash, parseId, parseLimit, parseNodeId } from '../../src/http/edge/guards.ts'
import { isRefusal } from '../../src/http/refusals.ts'
import { cases, randomBelow } from '../support/property.ts'

const INPUTS_PER_CASE = 1_000
const checksum = (wallet: Address) => getAddress(wallet)
const ODD = [...'0123456789abcdefABCDEFxX+-.eE_, \n\t\u0000\u0663\uff11%g', '']

/** Calls `check` with `count` inputs: right ones of `make`, most of them changed in a place or two. */
function bombard(
  count: number,
  make: (below: (bound: number) => number) => string,
  check: (text: string) => void,
): void {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const below = randomBelow(seed)
      for (let i = 0; i < INPUTS_PER_CASE; i++) {
        let text = make(below)
        for (let changes = below(3); changes > 0; changes--) {
          const at = below(text.length + 1)
          text = text.slice(0, at) + ODD[below(ODD.length)] + text.slice(at + below(2))
        }
        check(text)
      }
    }),
    { numRuns: cases(count / INPUTS_PER_CASE) },
  )
}

const digits = (below: (bound: number) => number, length: number, of = '0123456789') => {
  let text = ''
  for (let i = 0; i < length; i++) text += of[below(of.length)]
  return text
}
const HEX = '0123456789abcdef'
const MIXED = '0123456789abcdefABCDEF'
const only = (text: string, of: string) => {
  for (const character of text) if (!of.includes(character)) return false
  return true
}
/** A whole number in its one spelling, up to 2^256 - 1; null for any other text. */
const naiveWhole = (text: string): bigint | null => {
  if (text === '' || text.length > 78 || !only(text, '0123456789')) return null
  const value = BigInt(text)
  return value.toString() === text && value < 2n ** 256n ? value : null
}
const naiveHex = (text: string, length: number): boolean =>
  text.length === length + 2 && text.startsWith('0x') && only(text.slice(2), MIXED)
const caught = <T>(read: () => T): T | null => {
  try {
    return read()
  } catch (error) {
    assert.ok(error instanceof RangeError && error.message.length > 10 && error.message.length < 160)
    return null
  }
}
/** A guard's value, or the name of its refusal. */
const told = <T>(read: T) => (isRefusal(read) ? read.refused : read)
const lengths = [1, 2, 3, 5, 18, 19, 20, 77, 78, 79, 200]
const number = (below: (bound: number) => number) =>
  below(20) === 0
    ? (UINT256_MAX + BigInt(below(3)) - 1n).toString()
    : digits(below, lengths[below(lengths.length)] ?? 1)

test('amounts of wei are read exactly, and back; anything else is refused', () => {
  bombard(100_000, number, (text) => {
    const read = caught(() => parseWei(text))
    assert.equal(read, naiveWhole(text), JSON.stringify(text))
    if (read !== null) assert.equal(read.toString(), text)
  })
  fc.assert(fc.property(fc.bigInt({ min: 0n, max: UINT256_MAX }), (value) => parseWei(value.toString()) === value))
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 257n), max: 2n ** 257n }), (value) => {
      assert.equal(
        caught(() => wei(value)),
        value >= 0n && value <= 2n ** 256n - 1n ? value : null,
      )
    }),
  )
})

test('ids are positive whole numbers in their one spelling', () => {
  bombard(80_000, number, (text) => {
    const read = parseId(text)
    const expected = naiveWhole(text) || null
    assert.equal(isRefusal(read) ? null : read, expected, JSON.stringify(text))
    assert.equal(told(parseNodeId(text)), isRefusal(read) ? 'badNodeId' : read)
  })
  for (const value of [undefined, null, true, [], ['1'], {}, 1, 1n]) assert.equal(told(parseId(value)), 'badId')
  assert.equal(parseNodeId(7), 7n)
  assert.equal(parseNodeId(Number.MAX_SAFE_INTEGER), 9007199254740991n)
  for (const value of [0, -1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, null, [1], true])
    assert.equal(told(parseNodeId(value)), 'badNodeId')
})

test('limits are 1 to 200, in plain digits, once', () => {
  bombard(
    80_000,
    (below) => String(below(300)),
    (text) => {
      const value = naiveWhole(text)
      const good = value !== null && value >= 1n && value <= 200n
      assert.equal(told(parseLimit({ limit: text })), good ? Number(value) : 'badLimit', JSON.stringify(text))
    },
  )
  assert.equal(parseLimit({}), 50)
  assert.equal(parseLimit({ address: 'x' }), 50)
  for (const query of [
    { limit: ['5', '5'] },
    { limit: ['5'] },
    { 'limit[]': '5' },
    { limit: '5', 'limit[0]': '5' },
    { limit: '' },
  ])
    assert.equal(told(parseLimit(query as object)), 'badLimit')
})

test('hashes are 0x and 64 hex digits, and lower case from there on', () => {
  bombard(
    80_000,
    (below) => `0x${digits(below, 64, below(2) ? HEX : MIXED)}`,
    (text) => {
      const expected = naiveHex(text, 64) ? text.toLowerCase() : null
      const read = parseHash(text)
      assert.equal(isRefusal(read) ? null : read, expected, JSON.stringify(text))
      assert.equal(
        caught(() => hash(text)),
        expected,
        JSON.stringify(text),
      )
    },
  )
  for (const value of [undefined, null, 5, [`0x${'ab'.repeat(32)}`], {}])
    assert.equal(told(parseHash(value)), 'badHash')
})

test('addresses have one case or a right checksum, and are lower case from there on', () => {
  bombard(
    80_000,
    (below) => {
      const lower = `0x${digits(below, 40, below(30) === 0 ? '0123456789' : HEX)}`
      // Mostly a few, because checksums are slow.
      const kind = below(40)
      return kind === 0 ? getAddress(lower) : kind === 1 ? `0x${lower.slice(2).toUpperCase()}` : lower
    },
    (text) => {
      const raw = naiveHex(text, 40) ? text.toLowerCase() : null
      assert.equal(
        caught(() => address(text)),
        raw,
        JSON.stringify(text),
      )
      const oneCase = text.slice(2) === text.slice(2).toLowerCase() || text.slice(2) === text.slice(2).toUpperCase()
      const expected = raw !== null && (oneCase || getAddress(raw) === text) ? raw : null
      const read = parseAddress(text, checksum)
      assert.equal(isRefusal(read) ? null : read, expected, JSON.stringify(text))
    },
  )
  for (const value of [undefined, null, 5, [`0x${'ab'.repeat(20)}`], {}])
    assert.equal(told(parseAddress(value, checksum)), 'badAddress')
  const right = getAddress(`0x${'ab'.repeat(20)}`)
  assert.equal(told(parseAddress(right.replace('B', 'b'), checksum)), 'badAddress')
})

/** An IPv4 address as four numbers; null for any other text. */
const naiveV4 = (text: string): number[] | null => {
  const parts = text.split('.')
  const numbers = parts.map(Number)
  const plain = parts.every((part, i) => part !== '' && only(part, '0123456789') && String(numbers[i]) === part)
  return parts.length === 4 && plain && numbers.every((n) => n < 256) ? numbers : null
}

test('the caller is the rightmost hop that is not a proxy of ours, however the header is written', () => {
  const behind = clientFinder(['10.0.0.0/8', '192.0.2.7'])
  const trusted = (parts: number[]) => parts[0] === 10 || parts.join('.') === '192.0.2.7'
  const naive = (peer: number[], header: string) => {
    if (!trusted(peer)) return peer.join('.')
    let nearest = peer
    for (const hop of header.split(',').toReversed()) {
      const trimmed = hop.trim().replace(/%.*$/, '')
      const withPort = trimmed.split(':')
      const [ip = '', port = '1'] = withPort
      const parts =
        withPort.length <= 2 && only(port, '0123456789') && port !== '' && port.length <= 5 ? naiveV4(ip) : null
      if (parts === null) break
      nearest = parts
      if (!trusted(parts)) break
    }
    return nearest.join('.')
  }
  const hops = [
    '10.1.1.1',
    '10.255.0.9',
    '192.0.2.7',
    '192.0.2.8',
    '203.0.113.9',
    '1.2.3.4:80',
    'unknown',
    '',
    ' 9.9.9.9 ',
  ]
  bombard(
    100_000,
    (below) => Array.from({ length: 1 + below(4) }, () => hops[below(hops.length)]).join(','),
    (header) => {
      // Another test covers headers that could be an IPv6 address, or hold one.
      if (/[a-fA-F[\]]|:.*:|%/.test(header)) return
      for (const peer of ['10.2.2.2', '192.0.2.7', '203.0.113.1']) {
        const expected = naive(naiveV4(peer) ?? [], header)
        assert.deepEqual(behind(peer, header), expected, JSON.stringify([peer, header]))
      }
    },
  )
})

test('an IPv6 caller is their /64, in any of its spellings', () => {
  const find = clientFinder([])
  const words = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), { minLength: 8, maxLength: 8 })
  fc.assert(
    fc.property(words, fc.nat({ max: 7 }), fc.integer({ min: 1, max: 8 }), fc.boolean(), (all, from, length, upper) => {
      const [a = 0, b = 0, c = 0, d = 0] = all
      const mapped = all.slice(0, 5).every((w) => w === 0) && all[5] === 0xffff
      const hex = all.map((word) => word.toString(16))
      // The same with `::` for some of its zeros, if there are any at that place.
      const zeros = all.slice(from, from + length)
      const short =
        zeros.length > 1 && zeros.every((word) => word === 0)
          ? `${hex.slice(0, from).join(':')}::${hex.slice(from + zeros.length).join(':')}`
          : hex.join(':')
      const [g = 0, h = 0] = all.slice(6)
      const expected = mapped
        ? [g >> 8, g & 255, h >> 8, h & 255].join('.')
        : [a, b, c, d].map((word) => word.toString(16)).join(':')
      for (const text of [hex.join(':'), short, `[${short}]:443`, `[${short}]`, `${short}%eth0`])
        assert.deepEqual(find(upper ? text.toUpperCase() : text, ''), expected, text)
    }),
    { numRuns: cases(5_000) },
  )
})
