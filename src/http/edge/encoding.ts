// Compresses files, and answers from the memo, if the caller accepts that. Each is compressed once per encoding, for as long as we keep it. Only
// answers that are the same for everyone come here. If an answer held both a secret and text that an attacker may choose, its compressed length would
// leak the secret (BREACH). So we never compress anything that belongs to a session.
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
/** The quality for a file that never changes. The best takes ten seconds per megabyte, three times as long as that for large files. */
const qualityFor = (bytes: Buffer): number => (bytes.length > 256 * 1024 ? 10 : constants.BROTLI_MAX_QUALITY)

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
  br: ({ body, isFixed }: CachedOutcome) => {
    const quality = isFixed ? qualityFor(body) : BROTLI_QUALITY
    return promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })
  },
  gzip: ({ body, isFixed }: CachedOutcome) =>
    promisify(gzip)(body, isFixed ? { level: constants.Z_BEST_COMPRESSION } : {}),
}

/** The compressed forms of an answer that callers have requested so far, keyed by the answer, so that they are freed with it. */
const encodings = new WeakMap<CachedResponse, Map<Encoding, Promise<CachedOutcome>>>()

/** The answer in an encoding that the caller accepts. Small answers stay as they are. */
export async function encoded(response: CachedOutcome, acceptEncoding: string): Promise<CachedOutcome> {
  if (response.body.length < BYTES_MIN) return response
  const encoding = encodingFor(acceptEncoding)
  if (encoding === 'identity') return { ...response, encoding }
  const forms = encodings.get(response) ?? new Map<Encoding, Promise<CachedOutcome>>()
  encodings.set(response, forms)
  const form = forms.get(encoding) ?? compress(response, encoding)
  forms.set(encoding, form)
  return await form
}

/** Compresses an answer. Never fails: an answer that cannot be compressed is sent uncompressed. */
async function compress(response: CachedOutcome, encoding: 'br' | 'gzip'): Promise<CachedOutcome> {
  try {
    return { ...cachedResponseOf(await compressors[encoding](response)), encoding }
  } catch {
    return { ...response, encoding: 'identity' }
  }
}
