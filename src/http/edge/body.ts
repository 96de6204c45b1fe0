// Reads request bodies: at most what the route takes, and a JSON object if the route requires one. Owns how much of a request we ever hold in memory.
// It must never decide what fields mean.
import type { IncomingMessage } from 'node:http'
import { type Refusal, refuse, refuseTooLarge } from '../refusals.ts'

/** The largest body that we accept, unless the route takes long texts. The largest that we expect has a few hundred bytes. */
export const BODY_BYTES_MAX = 16 * 1024
/** How deep a body may be nested. None of our fields is nested; unknown fields may be, within reason. */
const DEPTH_MAX = 32
/** How many bytes of a refused body we still read before we cut the caller off, so that they can read the refusal. */
const REFUSED_BYTES_MAX = 16 * 1024 * 1024

/** All fields that routes use; we ignore others. */
export interface JsonObject {
  txHash?: unknown
  nodeId?: unknown
  address?: unknown
  signature?: unknown
  code?: unknown
  credential?: unknown
}

/** Reads the body as a JSON object (400 otherwise). With `orNothing`, no body counts as an empty object. */
export async function readJsonBody(
  request: IncomingMessage,
  { orNothing, bytesMax }: { orNothing: boolean; bytesMax: number },
): Promise<JsonObject | Refusal> {
  const bytes = await readBytes(request, bytesMax)
  if (!Buffer.isBuffer(bytes)) return bytes
  if (orNothing && bytes.length === 0) return {}
  if (!isPlainJson(request)) return refuse('badBody')
  let value: unknown
  try {
    // ignoreBOM keeps a byte order mark, which JSON does not allow.
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    return refuse('badBody')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !isShallow(value, DEPTH_MAX))
    return refuse('badBody')
  return value as JsonObject
}

/** True if we need not wait for an unwanted body: Node discards a GET's body once the answer is sent. */
export function passesBy(request: IncomingMessage): boolean {
  return (request.method === 'GET' || request.method === 'HEAD') && !announcesTooMuch(request, BODY_BYTES_MAX)
}

/** Reads and discards an unwanted body of up to 16 KiB. Null on success. */
export async function skipBody(request: IncomingMessage): Promise<Refusal | null> {
  const bytes = await readBytes(request, BODY_BYTES_MAX)
  return Buffer.isBuffer(bytes) ? null : bytes
}

function isPlainJson(request: IncomingMessage): boolean {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';')
  if (type.trim() !== 'application/json' || request.headersDistinct['content-type']?.length !== 1) return false
  const encoding = request.headers['content-encoding'] ?? 'identity'
  return encoding === 'identity' && parameters.every((parameter) => /^\s*(charset="?utf-8"?)?\s*$/.test(parameter))
}

function isShallow(value: unknown, depthLeft: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depthLeft > 0 && Object.values(value).every((inner) => isShallow(inner, depthLeft - 1))
}

function announcesTooMuch(request: IncomingMessage, bytesMax: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > bytesMax
}

function readBytes(request: IncomingMessage, bytesMax: number): Promise<Buffer | Refusal> {
  if (announcesTooMuch(request, bytesMax)) {
    drainRefused(request)
    return Promise.resolve(refuseTooLarge(bytesMax))
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= bytesMax) return void chunks.push(chunk)
      request.off('data', onData)
      drainRefused(request)
      resolve(refuseTooLarge(bytesMax))
    }
    request.on('data', onData)
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
    // If the caller disconnects halfway, only this event fires.
    request.on('close', () => reject(new Error('the caller disconnected while sending')))
  })
}

/** Reads and discards what is left of a refused body, because closing immediately would reset the connection before the caller reads the refusal. */
function drainRefused(request: IncomingMessage): void {
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > REFUSED_BYTES_MAX) request.destroy()
  })
  request.resume()
}
