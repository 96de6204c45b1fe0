// Reads the texts of the settings: from the environment, from `.env` in development, and from NAME_FILE for secrets. It keeps the list of mistakes,
// to which the parsers add theirs. It must never put a secret's value into a mistake.
import { parseEnv } from 'node:util'
import { codeOf } from '../lib/errors.ts'
import { GONE_SETTINGS } from './gone.ts'
import { isSecret, likelyMeant, SETTINGS, type SettingName } from './names.ts'
import { shown } from './setting.ts'

/** A mistake or a warning: which setting, what is wrong with it, and what to do. It never contains a secret. */
export interface Problem {
  readonly setting: string
  readonly message: string
}

/** Reads a text file; throws as node:fs does if it cannot. */
export type ReadFile = (path: string) => string

export type Environment = 'production' | 'development' | 'test'

/** The texts of the settings, and the mistakes found so far. */
export interface Source {
  readonly environment: Environment
  readonly problems: Problem[]
  /** Warnings: variables that look like a misspelt setting, settings of earlier releases, and what the parsers add. */
  readonly hints: readonly Problem[]
  /** The text of a setting; null if it is not set or empty. */
  get(name: SettingName): string | null
  /** The text of the file that a setting names. Null if the setting is not set, or if we cannot read the file, which counts as a mistake. */
  file(name: SettingName): string | null
  /** True if the setting is set, even if we could not read its file. */
  isSet(name: SettingName): boolean
  /** Notes a mistake. `message` is appended to the setting's name ("PORT is …"). */
  refuse(name: SettingName, message: string): void
  /** Notes a warning, in the same form as a mistake. */
  warn(name: SettingName, message: string): void
  /** True if none of these settings has a mistake so far. */
  isFine(...names: SettingName[]): boolean
}

/** Quotes that a shell would remove, but Docker and many other readers of env files do not. */
const IN_QUOTES = /^(["']).*\1$/s

/** Collects the texts of the settings. Never throws: a file that cannot be read is a mistake like any other. */
export function openSource(env: NodeJS.ProcessEnv, readFile: ReadFile): Source {
  const problems: Problem[] = []
  const refuse = (setting: SettingName, message: string) => problems.push({ setting, message })
  const environment = readEnvironment(env, refuse)
  const variables = environment === 'development' ? over(readDotEnv(readFile, refuse), present(env)) : present(env)
  const hints = findHints(variables)
  for (const { isMistake, ...problem } of goneSettings(variables)) (isMistake ? problems : hints).push(problem)
  const values = new Map<SettingName, string>()
  const namedSettings = new Set<SettingName>()
  for (const name of SETTINGS) {
    if (variables[name] !== undefined || (isSecret(name) && variables[`${name}_FILE`] !== undefined))
      namedSettings.add(name)
    const text = isSecret(name) ? readSecret(name, variables, readFile, refuse) : variables[name]?.trim()
    if (text && IN_QUOTES.test(text))
      refuse(name, 'is in quotes, which are part of its value here: an env file is not a shell, so remove them')
    else if (text) values.set(name, text)
  }
  return {
    environment,
    problems,
    hints,
    get: (name) => values.get(name) ?? null,
    file(name) {
      const path = values.get(name)
      if (path === undefined) return null
      try {
        return readFile(path)
      } catch (error) {
        refuse(name, `is ${shown(path)}, a file that cannot be read (${codeOf(error) ?? 'unreadable'})`)
        return null
      }
    },
    isSet: (name) => namedSettings.has(name),
    refuse,
    warn: (setting, message) => hints.push({ setting, message }),
    isFine: (...names) => !problems.some(({ setting }) => (names as string[]).includes(setting)),
  }
}

/** Merges the environment over `.env`. If the environment has one form of a setting (NAME or NAME_FILE), both forms in `.env` are dropped. */
function over(dotEnv: Record<string, string>, env: Record<string, string>): Record<string, string> {
  const base = (name: string) => name.replace(/_FILE$/, '')
  const ownNames = new Set(Object.keys(env).map(base))
  return { ...Object.fromEntries(Object.entries(dotEnv).filter(([name]) => !ownNames.has(base(name)))), ...env }
}

type Refuse = (name: SettingName, message: string) => void

function readEnvironment(env: NodeJS.ProcessEnv, refuse: Refuse): Environment {
  const { NODE_ENV } = env
  const text = NODE_ENV?.trim() || 'development'
  if (text === 'production' || text === 'development' || text === 'test') return text
  // We treat it as production. If it counted as development, an operator who wrote "prod" would get the embedded parts.
  refuse('NODE_ENV', `is ${shown(text)}: set it to production, development or test, or leave it out for development`)
  return 'production'
}

/** The variables that are not empty. An empty variable counts as not set, so that a compose file can blank it. */
function present(env: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => (entry[1]?.trim() ?? '') !== ''),
  )
}

function readDotEnv(readFile: ReadFile, refuse: Refuse): Record<string, string> {
  let text: string
  try {
    text = readFile('.env')
  } catch (error) {
    if (codeOf(error) !== 'ENOENT')
      refuse('NODE_ENV', `is development, but .env cannot be read (${codeOf(error) ?? 'unreadable'})`)
    return {}
  }
  if (text.includes('\0')) refuse('NODE_ENV', 'is development, but .env is not UTF-8 text: save it as UTF-8')
  // The byte order mark that some editors write must not become part of the first name.
  const { NODE_ENV, ...settings } = present(parseEnv(text.replace(/^\uFEFF/, '')))
  if (NODE_ENV === 'production') {
    refuse('NODE_ENV', 'cannot be production in .env, which is read in development only: set it in the environment')
  }
  return settings
}

function readSecret(
  name: SettingName,
  env: Record<string, string>,
  readFile: ReadFile,
  refuse: Refuse,
): string | undefined {
  const path = env[`${name}_FILE`]?.trim()
  if (path === undefined) return env[name]?.trim()
  if (env[name] !== undefined) {
    refuse(name, `and ${name}_FILE are both set: keep one of them`)
    return undefined
  }
  let text: string
  try {
    text = readFile(path).trim()
  } catch (error) {
    refuse(name, `cannot be read from the file in ${name}_FILE, ${shown(path)} (${codeOf(error) ?? 'unreadable'})`)
    return undefined
  }
  if (text === '') refuse(name, `is empty, because the file in ${name}_FILE, ${shown(path)}, is empty`)
  return text
}

/** The settings of earlier releases that are set. */
function goneSettings(env: Record<string, string>): (Problem & { isMistake: boolean })[] {
  return Object.entries(GONE_SETTINGS).flatMap(([name, { message, isMistake }]) =>
    [name, `${name}_FILE`].flatMap((setting) => {
      const value = env[setting]
      return value === undefined ? [] : [{ setting, message, isMistake: isMistake?.(value, env) ?? false }]
    }),
  )
}

function findHints(env: Record<string, string>): Problem[] {
  const settings = SETTINGS.flatMap((name) => (isSecret(name) ? [name, `${name}_FILE`] : [name]))
  const formerNames = Object.keys(GONE_SETTINGS).flatMap((name) => [name, `${name}_FILE`])
  const knownNames = new Set<string>([...settings, ...formerNames])
  return Object.keys(env).flatMap((name) => {
    const meant = knownNames.has(name) ? null : likelyMeant(name)
    return meant === null ? [] : [{ setting: name, message: hintOf(name, meant) }]
  })
}

function hintOf(name: string, meant: SettingName): string {
  if (name === `${meant}_FILE`) return `is not a setting: only secrets are read from files. Set ${meant} itself`
  return `is not a setting: did you mean ${meant}?`
}
