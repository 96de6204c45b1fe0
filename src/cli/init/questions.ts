// The questions of `node-ledger init`. We check each answer on its own, and the folder keeps answers between runs. Nothing here is secret, so we may
// show an answer.
import { createInterface, type Interface } from 'node:readline'
import { parseAddress, parseUrl } from '../../config/values.ts'
import { TIER_ID_FORM } from '../../domain/tiers.ts'
import { ZERO_ADDRESS } from '../../domain/units.ts'
import { LABEL } from '../../operator/acts/tiers.ts'
import { RefusedError } from '../errors.ts'
import { readAmount } from '../ether.ts'
import type { Io } from '../io.ts'

/** Names of the answers. The command's options have the same names. */
export type AnswerName =
  | 'owner'
  | 'payments'
  | 'public-url'
  | 'min-wei'
  | 'max-wei'
  | 'interval'
  | 'slot'
  | 'tier'
  | 'label'
  | 'price-wei'
  | 'per-wallet'
export type Answers = Readonly<Record<AnswerName, string>>

export interface Question {
  readonly ask: string
  /** What an empty answer means; null if an answer is required. */
  readonly usual: string | null
  /** What a valid answer looks like. */
  readonly wanted: string
  /** Parses an answer to the form that we store; null if it is invalid. */
  read(text: string): string | null
}

const address = (text: string) => {
  const found = parseAddress(text)
  return found === null || found === ZERO_ADDRESS ? null : found
}
const whole = (most: number) => (text: string) => (/^[1-9][0-9]{0,9}$/.test(text) && Number(text) <= most ? text : null)
const amount = (text: string) => readAmount(text, 'wei')
const ADDRESS = 'an address, with its checksum or in small letters'
const AMOUNT = 'an amount: 0.01ether, 5gwei, or digits of wei'

/** The questions, in order. */
const QUESTIONS: Readonly<Record<AnswerName, Question>> = {
  owner: { ask: 'Who owns the contract? A cold wallet.', usual: null, wanted: ADDRESS, read: address },
  payments: { ask: 'To which wallet do buyers pay? One of yours.', usual: null, wanted: ADDRESS, read: address },
  'public-url': {
    ask: 'At which https address will people find it? (empty: none yet)',
    usual: '',
    wanted: 'a URL: https://nodes.example.org',
    read: (text) => (text === '' ? '' : (parseUrl(text, ['http:', 'https:'])?.origin ?? null)),
  },
  'min-wei': { ask: 'What is the minimum credit of a node for a turn?', usual: null, wanted: AMOUNT, read: amount },
  'max-wei': { ask: 'And the maximum?', usual: null, wanted: AMOUNT, read: amount },
  interval: {
    ask: 'How many seconds are between two turns of a node?',
    usual: '86400',
    wanted: 'whole seconds',
    read: whole(31_536_000),
  },
  slot: {
    ask: 'Within how many seconds do nodes fall due together?',
    usual: '3600',
    wanted: 'whole seconds',
    read: whole(31_536_000),
  },
  tier: {
    ask: 'The first tier: its id?',
    usual: 'basic',
    wanted: 'small letters, digits and hyphens, 32 at most',
    read: (text) => (TIER_ID_FORM.test(text) ? text : null),
  },
  label: {
    ask: 'Its display name?',
    usual: 'Basic',
    wanted: LABEL.form,
    read: (text) => (text && LABEL.parse(text)) || null,
  },
  'price-wei': { ask: 'Its price?', usual: null, wanted: AMOUNT, read: amount },
  'per-wallet': { ask: 'How many of it may one wallet hold?', usual: '10', wanted: '1 to 256', read: whole(256) },
}
export const ANSWERS = Object.keys(QUESTIONS) as AnswerName[]

/** A dialogue on the terminal. If the user types ahead, it keeps the text for the next question. */
export class Dialogue {
  readonly #io: Io
  #open: { reader: Interface; lines: AsyncIterator<string> } | null = null

  constructor(io: Io) {
    this.#io = io
  }

  /** True if there is a terminal. */
  get canAsk(): boolean {
    return this.#io.stdin.isTTY === true
  }

  /** The answer, trimmed. Throws a RefusedError if the user ends the dialogue. */
  async ask(question: string): Promise<string> {
    this.#open ??= this.#begin()
    const { lines } = this.#open
    this.#io.stderr.write(`${question} `)
    const { value, done } = await lines.next()
    if (done) throw new RefusedError('\nNothing was sent.')
    return value.trim()
  }

  #begin() {
    const reader = createInterface({ input: this.#io.stdin, output: this.#io.stderr })
    // In a dialogue, Ctrl-C is not a signal, because the terminal passes it on as a key.
    reader.once('SIGINT', () => reader.close())
    return { reader, lines: reader[Symbol.asyncIterator]() }
  }

  /** Releases the terminal for the next command's question. */
  close(): void {
    this.#open?.reader.close()
    this.#open = null
  }
}

/** Asks until the answer is valid. */
async function askFor({ ask, usual, wanted, read }: Question, dialogue: Pick<Dialogue, 'ask'>): Promise<string> {
  for (let question = usual ? `${ask} [${usual}]` : ask; ; question = `Wanted is ${wanted}.`) {
    const text = await dialogue.ask(question)
    const answer = read(text === '' && usual !== null ? usual : text)
    if (answer !== null) return answer
  }
}

/**
 * The answer to a question: the given answer, if valid, else the user's. If it is wrong or missing, returns null and adds to `mistakes` under `name`.
 * Also null if there are already mistakes, because then we stop asking.
 */
export async function answerTo(
  question: Question,
  { name, text, missing }: { name: string; text: string | undefined; missing: string },
  { dialogue, mistakes }: { dialogue: Dialogue; mistakes: string[] },
): Promise<string | null> {
  const answer = text === undefined ? null : question.read(text)
  if (answer !== null) return answer
  if (text !== undefined) mistakes.push(`${name}: must be ${question.wanted}`)
  else if (!dialogue.canAsk) mistakes.push(`${name}: ${missing} ${question.ask}`)
  else if (mistakes.length === 0) return await askFor(question, dialogue)
  return null
}

/**
 * All answers: the call's options, else the answers of an earlier run, else the user's. Without a terminal, defaults take the place of the user's
 * answers. Adds mistakes to `mistakes`.
 */
export async function gather(
  { given, kept }: { given: Readonly<Record<string, string>>; kept: Readonly<Record<string, string>> },
  dialogue: Dialogue,
  mistakes: string[],
): Promise<Answers> {
  const answers: Partial<Record<AnswerName, string>> = {}
  for (const name of ANSWERS) {
    const question = QUESTIONS[name]
    const text = given[name] ?? kept[name] ?? (dialogue.canAsk ? undefined : (question.usual ?? undefined))
    const answer = await answerTo(question, { name: `--${name}`, text, missing: 'is missing.' }, { dialogue, mistakes })
    if (answer !== null) answers[name] = answer
  }
  return answers as Answers
}
