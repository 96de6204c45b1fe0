// Spoils one field somewhere in a provider's answer, in ways that liars, odd clients and broken proxies do.
import type { Answer } from '../false-provider.ts'

export type Dice = (bound: number) => number
export const one = <T>(dice: Dice, of: readonly T[]): T => of[dice(of.length)] as T

const isHolder = (value: unknown): value is Record<string, unknown> | unknown[] =>
  typeof value === 'object' && value !== null
const nested = (depth: number): unknown => {
  let value: unknown = []
  for (let left = depth; left > 0; left--) value = [value]
  return value
}
/** Has a key that code which copies carelessly takes for a prototype. */
const POISON: unknown = JSON.parse(
  '{"__proto__":{"length":9,"hash":"0x1"},"constructor":null,"toString":1,"length":-1}',
)
const WORD = `0x${'f'.repeat(64)}`

/** Values that are no value of any field, or an extreme one. */
const ODD: readonly unknown[] = [
  ...[
    null,
    '',
    '0x',
    '0X',
    '0x0',
    '0x00',
    '0x1',
    '0xzz',
    '0x-1',
    '-0x1',
    '0x1.5',
    ' 0x1',
    '0x1n',
    'latest',
    'NaN',
    'Infinity',
    'null',
    '１',
  ],
  ...[0, 1, -1, -0, 1.5, 1e308, 2 ** 53, true, false, [], {}, [null], [[]], [{}], { '0': '0x1', length: 1 }],
  ...[
    '0x1fffffffffffff',
    '0x20000000000000',
    '0x7fffffff',
    '0x80000000',
    '0xffffffffffffffff',
    WORD,
    `${WORD}f`,
    `0x${'0'.repeat(64)}`,
  ],
  ...[
    `0x${'0'.repeat(40)}`,
    `0x${'0'.repeat(64)}1`,
    '\u0000',
    '\ud800',
    'x'.repeat(70_000),
    `0x${'ab'.repeat(40_000)}`,
    nested(20),
    nested(2_000),
    POISON,
  ],
]

/** Values of another shape than any. */
const SHAPES: readonly unknown[] = [null, null, null, null, [], {}, 0, 1, '', '0x', true, false, [null], [{}]]

/** Another value in place of one. */
function other(dice: Dice, value: unknown): unknown {
  if (dice(isHolder(value) ? 2 : 4) === 0) return one(dice, SHAPES)
  if (dice(3) === 0) return one(dice, ODD)
  if (Array.isArray(value)) {
    const [at, by] = [dice(value.length + 1), one(dice, value.length > 0 ? value : ODD)]
    return one(dice, [
      value.toSpliced(at, 1),
      value.toSpliced(at, 0, by),
      [...value, ...value],
      value.toReversed(),
      value.slice(0, at),
      [],
      [value],
      { ...value },
    ])
  }
  if (isHolder(value))
    return one(dice, [
      [value],
      Object.values(value),
      { ...value, ...Object(POISON) },
      JSON.stringify(value),
      Object.keys(value),
    ])
  if (typeof value !== 'string') return one(dice, [String(value), [value], !value, -1, `0x${dice(99).toString(16)}`])
  const at = Math.min(value.length - 1, 2 + dice(Math.max(1, value.length - 2)))
  const digit = dice(16).toString(16)
  // A word of an answer to a call, or of a log's data.
  const from = 2 + 64 * dice(Math.max(1, Math.floor((value.length - 2) / 64)))
  const word = one(dice, [
    WORD.slice(2),
    '8'.padStart(64, '0'),
    '1'.padEnd(64, '0'),
    `1${'0'.repeat(dice(40))}`.padStart(64, '0'),
  ])
  return one<unknown>(dice, [
    `${value.slice(0, from)}${word}${value.slice(from + 64)}`,
    `${value.slice(0, from)}${word}${value.slice(from + 64)}`,
    ...[
      `${value.slice(0, at)}${digit}${value.slice(at + 1)}`,
      `${value.slice(0, at)}${value.slice(at + 1)}`,
      `${value}${digit}`,
    ],
    ...[
      value.toUpperCase(),
      value.replace('0x', '0x0'),
      value.replace('0x', '0x00'),
      value.slice(2),
      `-${value}`,
      [value],
      { value },
      Number(value),
    ],
    ...[
      value.replace(/.(?=.{40}$)/, digit),
      `${value}${'0'.repeat(64)}`,
      /^0x[0-9a-f]+$/.test(value) ? (BigInt(value) + 1n).toString() : `${value} `,
    ],
  ])
}

/** A copy of a value with one part of it spoilt, at any depth. */
function spoilt(dice: Dice, value: unknown): unknown {
  if (!isHolder(value) || dice(4) === 0) return other(dice, value)
  if (Array.isArray(value)) {
    if (value.length === 0) return other(dice, value)
    const at = dice(value.length)
    return value.with(at, spoilt(dice, value[at]))
  }
  const names = Object.keys(value)
  if (names.length === 0) return other(dice, value)
  // A block has one list of transactions beside two dozen plain fields.
  const deep = names.filter((name) => isHolder(value[name]))
  const name = one(dice, deep.length > 0 && dice(2) === 0 ? deep : names)
  const { [name]: part, ...rest } = value
  return one<() => unknown>(dice, [
    () => rest,
    () => ({ ...value, [name]: null }),
    () => ({ ...rest, [`${name}s`]: part }),
    () => ({ ...value, [name]: value[one(dice, names)] }),
    () =>
      Object.fromEntries([
        ...Object.entries(value),
        [one(dice, ['__proto__', 'toJSON', 'then', 'extra']), one(dice, ODD)],
      ]),
    ...Array.from({ length: 8 }, () => () => ({ ...value, [name]: spoilt(dice, part) })),
  ])()
}

/** An answer with one part of it spoilt; sometimes the envelope. */
export function spoiltAnswer(dice: Dice, given: Answer): Answer {
  const answer = 'result' in given ? { result: given.result } : { error: given.error }
  const [[name, part]] = Object.entries(answer) as [[string, unknown]]
  if (dice(12) > 0) return { [name]: spoilt(dice, part) } as Answer
  const error = { code: -32_000, message: 'no' }
  return one<unknown>(dice, [
    ...[
      {},
      { result: null },
      { ...answer, error },
      { error },
      { error: null },
      { error: 'no' },
      { error: { code: 'x', message: 7 } },
    ],
    ...[
      { error: { ...error, data: POISON } },
      { error: { code: 3, message: 'execution reverted', data: one(dice, ODD) } },
    ],
  ]) as Answer
}
