// Gathers what `node-ledger init` needs: from the call, the environment, an earlier run, and the user. It tries provider and database before anything
// else. At a terminal it asks again for what is wrong, and keeps each answer immediately; without one, it reports every mistake together.
import { readFileSync } from 'node:fs'
import { createRpc, type Rpc, splitRpcUrls } from '../../chain/rpc/rpc.ts'
import type { Address } from '../../domain/units.ts'
import { silentLog } from '../../lib/log.ts'
import type { Call } from '../command.ts'
import { Dialogue } from '../dialogue.ts'
import { UnavailableError, UsageError } from '../errors.ts'
import { contradiction, problemsIn, refuseProviders, refuseWallet, tryDatabase } from './checks.ts'
import type { Folder } from './folder.ts'
import {
  ANSWERS,
  type AnswerName,
  type Answers,
  QUESTIONS,
  type Question,
  SECRETS,
  type SecretName,
} from './questions.ts'
import { ALWAYS, settingsOf } from './settings.ts'

export interface Setup {
  readonly call: Call
  readonly folder: Folder
  readonly answers: Answers
  readonly rpcUrl: string
  readonly databaseUrl: string
}

const SECRET_NAMES: readonly SecretName[] = ['RPC_URL', 'DATABASE_URL']

/** Gathers everything that is needed. Throws a UsageError with everything that is missing or wrong. */
export async function ask(call: Call, folder: Folder): Promise<Setup> {
  const asking = new Asking(call, folder)
  try {
    const [rpcUrl, databaseUrl] = [await asking.secret('RPC_URL'), await asking.secret('DATABASE_URL')]
    asking.checkEnvironment()
    // No answer mends the environment.
    if (asking.canAsk) asking.throwMistakes()
    for (const name of ANSWERS) await asking.answer(name)
    const answers = asking.answers as Answers
    for (const late of lateChanges(folder, answers, { RPC_URL: rpcUrl, DATABASE_URL: databaseUrl })) asking.note(late)
    asking.throwMistakes()
    const setup = { call, folder, answers, rpcUrl, databaseUrl }
    for (const problem of problemsIn({ ...setup, settings: settingsOf(setup) })) asking.note(problem.text)
    asking.throwMistakes()
    return setup
  } finally {
    await asking.close()
  }
}

/** Answers that differ from those of an earlier run, once the contract is there. Before that, a new answer replaces the old one. */
function lateChanges(folder: Folder, answers: Answers, urls: Readonly<Record<SecretName, string>>): string[] {
  const { factory, answers: earlierAnswers } = folder.progress()
  if (factory === undefined) return []
  const changedSecrets = SECRET_NAMES.filter((name) => (folder.secret(name.toLowerCase()) ?? urls[name]) !== urls[name])
  const changedAnswers = ANSWERS.filter(
    (name) => earlierAnswers[name] !== undefined && earlierAnswers[name] !== answers[name],
  )
  return [
    ...changedSecrets.map(
      (name) => `${name}: differs from ${folder.at('secrets', name.toLowerCase())}. To change it, edit that file.`,
    ),
    ...changedAnswers.map(
      (name) =>
        `--${name}: was ${earlierAnswers[name]} when the contract was deployed. Change settings.env before the first start; later the commands for wallets, terms and tiers change it. Or begin in another folder.`,
    ),
  ]
}

/** An answer before it is settled. */
interface Wanted {
  readonly name: string
  /** What the call, the environment or an earlier run gives. */
  readonly text: string | undefined
  /** True if the user cannot mend it here. */
  readonly isFixed: boolean
  readonly missing: string
  readonly keep: (answer: string) => void
  /** Why a valid answer is wrong; null if it is not. Throws an UnavailableError if we could not find out. */
  readonly refuse: (answer: string) => string | null | Promise<string | null>
}

class Asking {
  readonly answers: Partial<Record<AnswerName, string>> = {}
  readonly #mistakes: { text: string; isAway: boolean }[] = []
  readonly #call: Call
  readonly #folder: Folder
  readonly #dialogue: Dialogue
  /** An earlier run deployed the contract, so nothing can be chosen any more. */
  readonly #isLate: boolean
  #chain: { rpc: Rpc; chainId: number } | null = null
  #hasKept: boolean

  constructor(call: Call, folder: Folder) {
    this.#call = call
    this.#folder = folder
    this.#dialogue = new Dialogue(call)
    const { factory, answers } = folder.progress()
    this.#isLate = factory !== undefined
    const lines = Object.entries(answers).map(
      ([name, answer]) => `  --${name} ${QUESTIONS[name as AnswerName]?.show?.(answer) ?? answer}`,
    )
    this.#hasKept = lines.length > 0
    if (this.canAsk && this.#hasKept && !this.#isLate)
      call.out.say([`Kept from an earlier run; an option replaces its answer:`, ...lines].join('\n'))
  }

  get canAsk(): boolean {
    return this.#dialogue.canAsk
  }

  note(text: string, isAway = false): void {
    this.#mistakes.push({ text, isAway })
  }

  throwMistakes(): void {
    const text = this.#mistakes.map((mistake) => mistake.text).join('\n')
    if (this.#mistakes.some(({ isAway }) => !isAway)) throw new UsageError(text)
    if (this.#mistakes.length > 0) throw new UnavailableError(text)
  }

  async close(): Promise<void> {
    this.#dialogue.close()
    await this.#chain?.rpc.close()
  }

  /** A URL that may contain a password. It comes from the environment, else the folder, else the user; never from the command line. */
  async secret(setting: SecretName): Promise<string> {
    const { [setting]: value, [`${setting}_FILE`]: path } = this.#call.io.env
    const fromEnv = value ?? (path === undefined ? undefined : readGiven(path))
    const file = setting.toLowerCase()
    const url = await this.#settle(SECRETS[setting], {
      name: setting,
      text: fromEnv ?? this.#folder.secret(file) ?? undefined,
      isFixed: fromEnv !== undefined,
      missing: `set it, or ${setting}_FILE, in the environment.`,
      keep: (text) => {
        this.#folder.keep(this.#folder.progress())
        this.#folder.putSecret(file, text)
      },
      refuse: (text) => (setting === 'RPC_URL' ? this.#tryProviders(text) : tryDatabase(text)),
    })
    return url ?? ''
  }

  /** Notes what is wrong with the environment, whatever the answers are. */
  checkEnvironment(): void {
    const { env } = this.#call.io
    const { factory } = this.#folder.progress()
    for (const [name, value] of Object.entries(ALWAYS)) {
      const refusal = contradiction(env, name, value)
      if (refusal) this.note(refusal)
    }
    for (const name of factory ? [] : ['FACTORY_ADDRESS', 'START_BLOCK'])
      if (env[name])
        this.note(`${name}: is set in the environment, but this ledger gets a contract of its own. Unset it.`)
    const { call, folder } = { call: this.#call, folder: this.#folder }
    const settings = settingsOf({ call, folder, answers: {} })
    for (const { setting, text } of problemsIn({ call, folder, settings, rpcUrl: '', databaseUrl: '' }))
      if (env[setting] !== undefined && !(setting in SECRETS)) this.note(text)
  }

  /** Settles an answer. `again`: asks although there is an answer, which is the default then. */
  async answer(name: AnswerName, again?: string): Promise<void> {
    const question = QUESTIONS[name]
    delete this.answers[name]
    const { [name]: earlier } = this.#folder.progress().answers
    const { [name]: initial = earlier ?? this.#call.io.env[question.setting ?? ''] } = this.#call.values
    const answer = await this.#settle(
      again === undefined ? question : { ...question, usual: shownAs(question, again) },
      {
        name: `--${name}`,
        text: again === undefined ? initial : undefined,
        isFixed: false,
        missing: 'is missing.',
        keep: (text) => {
          const progress = this.#folder.progress()
          this.#folder.keep({ ...progress, answers: { ...progress.answers, [name]: text } })
        },
        refuse: async (valid) =>
          question.refuse?.({ answers: { ...this.answers, [name]: valid }, options: this.#call.values }) ??
          (question.setting && contradiction(this.#call.io.env, question.setting, valid)) ??
          (name === 'payments' ? await this.#refuseWallet(valid as Address) : null),
      },
    )
    if (answer !== null) this.answers[name] = answer
  }

  /** A valid answer: what is given, else what the user types. Null if there is none; the mistake is noted. */
  async #settle(question: Question, target: Wanted): Promise<string | null> {
    const text = target.text ?? (this.canAsk ? undefined : (question.usual ?? undefined))
    if (text === undefined && this.canAsk) return await this.#askUntilRight(question, target)
    if (text === undefined) {
      this.note(`${target.name}: ${target.missing} ${question.ask}`)
      return null
    }
    const { answer, mistake } = await this.#judge(text, question, target)
    if (mistake === null) return answer
    if (target.isFixed || !this.canAsk) {
      this.note(mistake.text, mistake.isAway)
      return null
    }
    this.#call.out.say(mistake.text)
    return await this.#askUntilRight(await this.#again(question, answer), target)
  }

  async #askUntilRight(question: Question, target: Wanted): Promise<string | null> {
    for (let current = question; ; ) {
      const text = await this.#type(current.usual ? `${current.ask} [${current.usual}]` : current.ask)
      const { answer, mistake } = await this.#judge(text || (current.usual ?? ''), question, target)
      if (mistake === null) {
        this.#keep(target, answer ?? '')
        return answer
      }
      this.#call.out.say(mistake.text)
      current = await this.#again(question, answer)
    }
  }

  /** The question after a mistake. If its pair may be wrong instead, asks for that first. */
  async #again(question: Question, answer: string | null): Promise<Question> {
    if (answer === null || !question.pair) return question
    await this.answer(question.pair, this.answers[question.pair])
    return { ...question, usual: shownAs(question, answer) }
  }

  async #judge(text: string, { read, wanted: form }: Question, { name, refuse }: Wanted) {
    const answer = read(text)
    if (answer === null) return { answer, mistake: { text: `${name}: must be ${form}`, isAway: false } }
    try {
      const refusal = this.#isLate ? null : await refuse(answer)
      return { answer, mistake: refusal === null ? null : { text: refusal, isAway: false } }
    } catch (error) {
      if (error instanceof UnavailableError) return { answer, mistake: { text: error.message, isAway: true } }
      throw error
    }
  }

  #keep({ keep }: Wanted, answer: string): void {
    if (this.#call.flags.has('dry-run') || this.#isLate) return
    keep(answer)
    this.#hasKept = true
  }

  async #type(prompt: string): Promise<string> {
    const notice = `Your answers are kept in ${this.#folder.path}: run the same command to continue.`
    try {
      return await this.#dialogue.ask(prompt, `Nothing was sent.${this.#hasKept ? ` ${notice}` : ''}`)
    } finally {
      if (this.#call.signal.aborted && this.#hasKept) this.#call.out.say(notice)
    }
  }

  async #tryProviders(url: string): Promise<string | null> {
    const rpc = createRpc({ urls: splitRpcUrls(url), log: silentLog })
    const { io, out } = this.#call
    try {
      const outcome = await refuseProviders(rpc, io.env, (line) => out.say(line))
      if (typeof outcome === 'string') return outcome
      this.#chain = { rpc, ...outcome }
      return null
    } finally {
      if (this.#chain?.rpc !== rpc) await rpc.close()
    }
  }

  async #refuseWallet(wallet: Address): Promise<string | null> {
    if (this.#chain === null) return null
    const { rpc, chainId } = this.#chain
    return await refuseWallet(rpc, wallet, { chainId, former: this.#call.io.env.FORMER_FACTORIES })
  }
}

const shownAs = ({ show }: Question, answer: string | undefined) =>
  answer === undefined ? null : (show?.(answer) ?? answer)

function readGiven(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    throw new UsageError(`${path} cannot be read.`)
  }
}
