// The commands `node-ledger keys new`, which makes a private key and writes it to a file that no other user can read, and `keys address`, which asks
// a key management service for the account of a key. They must never print a key or overwrite an existing file.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { checksum } from '../../chain/digest.ts'
import { addressOfKey } from '../../chain/pages/wallets.ts'
import { encryptKeystore } from '../../chain/send/keystore.ts'
import { parseKmsKey } from '../../chain/send/kms/key.ts'
import { accountOfKmsKey } from '../../chain/send/kms/signer.ts'
import { parsePrivateKey } from '../../config/values.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { RefusedError, UsageError } from '../errors.ts'
import type { Io } from '../io.ts'
import { writeNew } from '../new-file.ts'

/** The shortest password of a keystore file. Thieves who have the file can guess for as long as they like. */
const PASSWORD_CHARS_MIN = 12

export async function newKey({ io, out, values, flags, signal }: Call): Promise<ExitCode> {
  const path = values.out ?? ''
  const plain = flags.has('plain')
  if (plain && values['password-file'] !== undefined) throw new UsageError('--plain: a bare key has no password')
  const password = plain ? null : await readPassword(io, values['password-file'], signal)
  const key = randomKey()
  const address = checksum(addressOfKey(key))
  const make = async () => (password === null ? key : JSON.stringify(await encryptKeystore(key, password)))
  await writeNew(path, make, (line) => line)
  await out.result({ address, file: path, encrypted: !plain }, address)
  out.say(`Written to ${path}${plain ? ', unencrypted' : ''}. It cannot be made again: keep a copy in a safe place.`)
  return EXIT.done
}

export async function keyAddress({ out, args }: Call): Promise<ExitCode> {
  const key = parseKmsKey(args.key ?? '')
  if (key === null)
    throw new UsageError(
      'Not the name of a key. Use arn:aws:kms:<region>:<account>:key/<id>, or projects/<project>/locations/<location>/keyRings/<ring>/cryptoKeys/<key>/cryptoKeyVersions/<version>.',
    )
  const account = checksum(await accountOfKmsKey(key))
  await out.result({ key: key.name, address: account }, account)
  return EXIT.done
}

export function randomKey(): `0x${string}` {
  for (;;) {
    // Nearly every number of this size is a key: all but about one in 2^128.
    const key = parsePrivateKey(randomBytes(32).toString('hex'))
    if (key !== null) return key
  }
}

async function readPassword(io: Io, path: string | undefined, signal: AbortSignal): Promise<string> {
  const password = path === undefined ? await askTwice(io, signal) : readPasswordFile(path)
  if (password.length < PASSWORD_CHARS_MIN)
    throw new RefusedError(`The password has ${password.length} characters, but needs at least ${PASSWORD_CHARS_MIN}.`)
  return password
}

/** Reads a password from a file, without the line break that editors add at the end. */
function readPasswordFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new UsageError(`--password-file: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** Asks for a password twice, without echoing the input. */
async function askTwice(io: Io, signal: AbortSignal): Promise<string> {
  if (!io.stdin.isTTY) throw new UsageError('No terminal to ask for a password: add --password-file, or --plain.')
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const dialogue = createInterface({ input: io.stdin, output: nowhere, terminal: true, signal })
  dialogue.once('SIGINT', () => dialogue.close())
  // Uses a single reader, because it keeps what was typed ahead.
  const lines = dialogue[Symbol.asyncIterator]()
  const ask = async (question: string) => {
    io.stderr.write(question)
    const { value, done } = await lines.next()
    io.stderr.write('\n')
    if (done) throw new RefusedError('No password, no key.')
    return value
  }
  try {
    const first = await ask('Password: ')
    if (first !== (await ask('Once more: '))) throw new RefusedError('The two passwords differ.')
    return first
  } finally {
    dialogue.close()
  }
}
