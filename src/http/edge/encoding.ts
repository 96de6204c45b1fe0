// Compresses answers from the memo if the caller accepts that. Each answer is compressed once per encoding, for as long as we keep it. Only answers
// that are the same for everyone come here. If an answer held both a secret and text that an attacker may choose, its compressed length would leak
// the secret (BREACH). So we never compress anything that belongs to a session.
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { CachedOutcome } from '../route.ts'
import { type CachedResponse, cachedResponseOf } from './memo.ts'

export type Encoding = 'br' | 'gzip' | 'identity'

/** A smaller answer fits into one packet uncompressed. */
const BYTES_MIN = 1024
/**
 * Brotli's quality: nearly the best compression, at a few milliseconds per 100 KB. We compress once for many callers, but one of them waits for it.
 */
const BROTLI_QUALITY = 5

/** An `accept-encoding` that names an encoding, at any weight but 0. */
const taking = (name: string) => new RegExp(`(^|[\\s,])${name}\\s*(;\\s*q=(1|0\\.0*[1-9])|,|$)`)
const TAKES_BR = taking('br')
const TAKES_GZIP = taking('gzip')

/** The encoding with the smallest result that a caller accepts, by its `accept-encoding`. */
export function encodingFor(acceptEncoding: string): Encoding {
  if (acceptEncoding === '') return 'identity'
  if (TAKES_BR.test(acceptEncoding)) return 'br'
  return TAKES_GZIP.test(acceptEncoding) ? 'gzip' : 'identity'
}

const compressors = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
}

/** The compressed forms of an answer that callers have requested so far, keyed by the answer, so that they are freed with it. */
const made = new WeakMap<CachedResponse, Map<Encoding, Promise<CachedOutcome>>>()

/** The answer in an encoding that the caller accepts. Files that are already encoded, and small answers, stay as they are. */
export async function encoded(response: CachedOutcome, acceptEncoding: string): Promise<CachedOutcome> {
  if (response.encoding || response.body.length < BYTES_MIN) return response
  const encoding = encodingFor(acceptEncoding)
  if (encoding === 'identity') return { ...response, encoding }
  const forms = made.get(response) ?? new Map<Encoding, Promise<CachedOutcome>>()
  made.set(response, forms)
  const form = forms.get(encoding) ?? compress(response, encoding)
  forms.set(encoding, form)
  return await form
}

/** Compresses an answer. Never fails: an answer that cannot be compressed is sent uncompressed. */
async function compress(response: CachedResponse, encoding: 'br' | 'gzip'): Promise<CachedOutcome> {
  try {
    return { ...cachedResponseOf(await compressors[encoding](response.body)), encoding }
  } catch {
    return { ...response, encoding: 'identity' }
  }
}
