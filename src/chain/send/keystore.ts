// Encrypted key files, in the form that geth, Clef, Foundry and most wallets write (Web3 Secret Storage, version 3). A key that is derived from the
// password decrypts the private key; a MAC (keccak-256) shows whether the password is right. It must never log, store or repeat a key or a password,
// and never use more memory or time than a sane file needs.
import {
  createCipheriv,
  createDecipheriv,
  pbkdf2 as pbkdf2Callback,
  randomBytes,
  randomUUID,
  timingSafeEqual,
} from 'node:crypto'
import { promisify } from 'node:util'
// We do not use node:crypto's scrypt, because it rejects parameters that other clients use (r 1 with n 2^18, as in the specification's own example).
import { scryptAsync } from '@noble/hashes/scrypt'
import { keccak_256 } from '@noble/hashes/sha3'
import { type Address, address } from '../../domain/units.ts'

const pbkdf2 = promisify(pbkdf2Callback)

const CIPHER = 'aes-128-ctr'
/** Bytes of the derived key. The first half encrypts; the second half authenticates. */
const DERIVED_BYTES = 32
const SALT_BYTES = 32
/** geth's default. Each guess takes about a second, and a quarter of a gigabyte of memory. */
const SCRYPT_N = 2 ** 18
const SCRYPT_R = 8
const SCRYPT_P = 1
/** Four times the memory that geth's own files need. If a file needs more, it is a mistake or an attack. */
const SCRYPT_BYTES_MAX = 2 ** 30
const SCRYPT_PARALLEL_MAX = 16
/** Ten times as many as wallets use today. */
const PBKDF2_ROUNDS_MAX = 10_000_000
/** A key file has about 500 characters. */
const TEXT_CHARS_MAX = 16 * 1024

/** Why we could not open a key file. The message is for operators, and never contains a secret. */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError'
}

/** A key file of version 3: the JSON on disk. */
export interface Keystore {
  version: 3
  id: string
  /** The address in lower case, without 0x, as geth writes it. */
  address: string
  crypto: {
    cipher: typeof CIPHER
    ciphertext: string
    cipherparams: { iv: string }
    kdf: 'scrypt'
    kdfparams: { n: number; r: number; p: number; dklen: number; salt: string }
    mac: string
  }
}

export interface EncryptOptions {
  /** The cost of a guess, as a power of two; by default geth's. */
  scryptN?: number
}

/** Encrypts a private key with a password. At the default cost, this takes about a second. */
export async function encryptKeystore(
  privateKey: `0x${string}`,
  password: string,
  { scryptN = SCRYPT_N }: EncryptOptions = {},
): Promise<Keystore> {
  const owner = await addressOf(privateKey)
  const [salt, iv] = [randomBytes(SALT_BYTES), randomBytes(16)]
  const derived = await scrypt(password, salt, { n: scryptN, r: SCRYPT_R, p: SCRYPT_P, length: DERIVED_BYTES })
  const cipher = createCipheriv(CIPHER, derived.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([cipher.update(Buffer.from(privateKey.slice(2), 'hex')), cipher.final()])
  return {
    version: 3,
    id: randomUUID(),
    address: owner.slice(2),
    crypto: {
      cipher: CIPHER,
      ciphertext: ciphertext.toString('hex'),
      cipherparams: { iv: iv.toString('hex') },
      kdf: 'scrypt',
      kdfparams: { n: scryptN, r: SCRYPT_R, p: SCRYPT_P, dklen: DERIVED_BYTES, salt: salt.toString('hex') },
      mac: macOf(derived, ciphertext).toString('hex'),
    },
  }
}

/** The address in a key file; null if the file has none. Needs no password. Throws a KeystoreError if the text is not a key file. */
export function keystoreAddress(text: string): Address | null {
  return addressIn(parse(text))
}

/**
 * Decrypts a key file (its JSON text) with its password. Supports scrypt, pbkdf2 with HMAC-SHA-256, and aes-128-ctr.
 * @throws a KeystoreError that says what is wrong: the text is not a key file, its form is not supported, the password is wrong, or the key does not
 * match the address.
 */
export async function decryptKeystore(text: string, password: string): Promise<`0x${string}`> {
  const file = parse(text)
  const crypto = record(file.crypto ?? file.Crypto, 'crypto')
  if (file.version !== 3 && file.version !== '3') throw new KeystoreError('is not a version 3 key file')
  if (crypto.cipher !== CIPHER) throw new KeystoreError(`is not encrypted with ${CIPHER}`)
  const iv = bytes(record(crypto.cipherparams, 'crypto.cipherparams').iv, 'crypto.cipherparams.iv', 16)
  const ciphertext = bytes(crypto.ciphertext, 'crypto.ciphertext', 32)
  const mac = bytes(crypto.mac, 'crypto.mac', 32)
  const derived = await derive(crypto.kdf, record(crypto.kdfparams, 'crypto.kdfparams'), password)
  if (!timingSafeEqual(macOf(derived, ciphertext), mac)) throw new KeystoreError('does not open with this password')
  const decipher = createDecipheriv(CIPHER, derived.subarray(0, 16), iv)
  const key = `0x${Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('hex')}` as const
  const stated = addressIn(file)
  if (stated !== null && (await addressOf(key)) !== stated)
    throw new KeystoreError('holds the key of a different address than it names')
  return key
}

async function addressOf(key: `0x${string}`): Promise<Address> {
  // Loaded only here: every command reads the settings, but hardly any of them opens a key file.
  const { privateKeyToAccount } = await import('viem/accounts')
  try {
    return address(privateKeyToAccount(key).address)
  } catch {
    throw new KeystoreError('holds no private key')
  }
}

/** Converts a password to the composed form that wallets use, so that passwords that look the same are the same. Plain ASCII does not change. */
function normalised(password: string): string {
  return password.normalize('NFKC')
}

async function derive(kdf: unknown, params: Record<string, unknown>, password: string): Promise<Buffer> {
  const salt = bytes(params.salt, 'crypto.kdfparams.salt')
  const length = whole(params.dklen, 'crypto.kdfparams.dklen', 1024)
  if (length < DERIVED_BYTES) throw new KeystoreError(`derives fewer than ${DERIVED_BYTES} bytes`)
  if (kdf === 'scrypt') {
    const n = whole(params.n, 'crypto.kdfparams.n', 2 ** 24)
    const r = whole(params.r, 'crypto.kdfparams.r', 1024)
    const p = whole(params.p, 'crypto.kdfparams.p', SCRYPT_PARALLEL_MAX)
    if ((n & (n - 1)) !== 0 || n < 2) throw new KeystoreError('has a crypto.kdfparams.n that is not a power of two')
    if (128 * r * (n + p) > SCRYPT_BYTES_MAX) throw new KeystoreError('needs more than a gigabyte of memory to open')
    return await scrypt(password, salt, { n, r, p, length })
  }
  if (kdf === 'pbkdf2') {
    if (params.prf !== 'hmac-sha256') throw new KeystoreError('uses pbkdf2 with a function other than hmac-sha256')
    const rounds = whole(params.c, 'crypto.kdfparams.c', PBKDF2_ROUNDS_MAX)
    return await pbkdf2(normalised(password), salt, rounds, length, 'sha256')
  }
  throw new KeystoreError('derives its key neither with scrypt nor with pbkdf2')
}

async function scrypt(
  password: string,
  salt: Buffer,
  { n, r, p, length }: { n: number; r: number; p: number; length: number },
): Promise<Buffer> {
  const cost = { N: n, r, p, dkLen: length, maxmem: SCRYPT_BYTES_MAX + 2 ** 20 }
  return Buffer.from(await scryptAsync(normalised(password), salt, cost))
}

function macOf(derived: Buffer, ciphertext: Buffer): Buffer {
  return Buffer.from(keccak_256(Buffer.concat([derived.subarray(16, 32), ciphertext])))
}

function parse(text: string): Record<string, unknown> {
  if (text.length > TEXT_CHARS_MAX) throw new KeystoreError('is not a key file: it is too long for one')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new KeystoreError('is not a key file: it is not JSON')
  }
  return record(value, 'the file')
}

function addressIn(file: Record<string, unknown>): Address | null {
  const { address: stated } = file
  if (stated === undefined || stated === null || stated === '') return null
  const digits = typeof stated === 'string' ? stated.replace(/^0x/i, '') : ''
  if (!/^[0-9a-fA-F]{40}$/.test(digits)) throw new KeystoreError('has an invalid address')
  return address(`0x${digits.toLowerCase()}`)
}

function record(value: unknown, where: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new KeystoreError(`is not a key file: ${where} is not an object`)
}

function bytes(value: unknown, where: string, length?: number): Buffer {
  const digits = typeof value === 'string' ? value.replace(/^0x/i, '') : ''
  if (!/^(?:[0-9a-fA-F]{2}){1,512}$/.test(digits) || (length !== undefined && digits.length !== length * 2))
    throw new KeystoreError(`is damaged: ${where} is not ${length === undefined ? '' : `${length} bytes of `}hex`)
  return Buffer.from(digits, 'hex')
}

function whole(value: unknown, where: string, max: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= max) return value
  throw new KeystoreError(`is damaged: ${where} is not a number from 1 to ${max}`)
}
