// Compresses answers from the memo where the caller takes it, each once for each encoding, for as long as the answer itself is kept. Only what
// is the same for everybody comes here: where a secret stands beside what an attacker may choose, the compressed length tells of it (BREACH),
// so nothing that belongs to a session is ever compressed.
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { CachedOutcome } from '../route.ts'
import { type CachedResponse, cachedResponseOf } from './memo.ts'

export type Encoding = 'br' | 'gzip' | 'identity'

/** A smaller answer fits into one packet as it is. */
const BYTES_MIN = 1024
/** Near the best, in a few milliseconds of 100 KB: it is done once for many callers, but somebody waits for it. */
const BROTLI_QUALITY = 5

/** An `accept-encoding` that takes an encoding by its name, at any weight but 0. */
const taking = (name: string) => new RegExp(`(^|[\\s,])${name}\\s*(;\\s*q=(1|0\\.0*[1-9])|,|$)`)
const TAKES_BR = taking('br')
const TAKES_GZIP = taking('gzip')

/** The smallest encoding that a caller takes, by its `accept-encoding`. */
export function encodingFor(accepted: string): Encoding {
  if (accepted === '') return 'identity'
  if (TAKES_BR.test(accepted)) return 'br'
  return TAKES_GZIP.test(accepted) ? 'gzip' : 'identity'
}

const compressors = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
}

/** An answer in each encoding that was asked for. */
interface Made {
  identity: CachedOutcome
  br?: CachedOutcome | Promise<CachedOutcome>
  gzip?: CachedOutcome | Promise<CachedOutcome>
}

/** By the answer they are made of: they go with it. */
const made = new WeakMap<CachedResponse, Made>()

function madeOf(response: CachedOutcome): Made {
  const known = made.get(response)
  if (known) return known
  const begun: Made = { identity: { ...response, encoding: 'identity' } }
  made.set(response, begun)
  return begun
}

/** The answer in the encoding that the caller takes: at once where it was made before. A file that has an encoding, and a small answer, stay. */
export function encoded(response: CachedOutcome, accepted: string): CachedOutcome | Promise<CachedOutcome> {
  if (response.encoding || response.body.length < BYTES_MIN) return response
  const encoding = encodingFor(accepted)
  const ready = madeOf(response)
  if (encoding === 'identity') return ready.identity
  const known = ready[encoding]
  if (known) return known
  const making = compress(response, encoding)
  ready[encoding] = making
  making.then((answer) => {
    ready[encoding] = answer
  })
  return making
}

/** Never fails: an answer that cannot be compressed goes as it is. */
async function compress(response: CachedResponse, encoding: 'br' | 'gzip'): Promise<CachedOutcome> {
  const { body } = response
  try {
    const bytes = await compressors[encoding](typeof body === 'string' ? Buffer.from(body, 'latin1') : body)
    return { ...cachedResponseOf(bytes), encoding }
  } catch {
    return { ...response, encoding: 'identity' }
  }
}
