// An authenticator and its browser in software, for tests of passkeys: it creates keys and signs on request, also wrongly.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const HAS_KEY = 0x40
const NO_ATTESTATION = new Map<string, unknown>([
  ['fmt', 'none'],
  ['attStmt', new Map()],
])

/** The fields of its answer; default: correct ones. */
export interface Said {
  origin?: string
  rpId?: string
  type?: string
  isVerified?: boolean
  isPresent?: boolean
  counter?: number
  /** Signs with another's key. */
  key?: KeyObject
}

export class Authenticator {
  readonly id = randomBytes(16).toString('base64url')
  readonly origin: string
  readonly rpId: string
  counter = 0
  readonly #pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })

  constructor(origin: string) {
    this.origin = origin
    this.rpId = new URL(origin).hostname
  }

  /** Its private key, for another that impersonates it. */
  get key(): KeyObject {
    return this.#pair.privateKey
  }

  /** A browser's answer to creation options. */
  make({ challenge }: { challenge: string }, said: Said = {}): object {
    const credentialId = Buffer.from(this.id, 'base64url')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(credentialId.length)
    const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, this.#coseKey()])
    const authData = Buffer.concat([this.#data(said, HAS_KEY), attested])
    const attestationObject = isoCBOR.encode(
      new Map([...NO_ATTESTATION, ['authData', new Uint8Array(authData)]]) as never,
    )
    return this.#answer({
      clientDataJSON: this.#client('webauthn.create', challenge, said).toString('base64url'),
      attestationObject: Buffer.from(attestationObject).toString('base64url'),
      transports: ['internal', 'hybrid'],
    })
  }

  /** A browser's answer to request options. */
  sign({ challenge }: { challenge: string }, said: Said = {}): object {
    const client = this.#client('webauthn.get', challenge, said)
    const data = this.#data({ counter: ++this.counter, ...said }, 0)
    const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
    return this.#answer({
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, said.key ?? this.key).toString('base64url'),
    })
  }

  #answer(response: object): object {
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, response }
  }

  #client(type: string, challenge: string, said: Said): Buffer {
    return Buffer.from(
      JSON.stringify({ type: said.type ?? type, challenge, origin: said.origin ?? this.origin, crossOrigin: false }),
    )
  }

  #data({ rpId = this.rpId, isPresent = true, isVerified = true, counter = this.counter }: Said, more: number): Buffer {
    const counted = Buffer.alloc(5)
    counted[0] = (isPresent ? USER_PRESENT : 0) | (isVerified ? USER_VERIFIED : 0) | more
    counted.writeUInt32BE(counter, 1)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), counted])
  }

  #coseKey(): Uint8Array {
    const { x = '', y = '' } = this.#pair.publicKey.export({ format: 'jwk' })
    const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'))
    const key = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ])
    return isoCBOR.encode(key as never)
  }
}
