// The market price of ether in dollars, for display only: one request to the configured source, which yields a number or null. It must never throw,
// follow a redirect, read more than a few kilobytes, or make up a price. Callers limit how often they call it.
import type { Dispatcher } from 'undici'
import { request } from '../lib/undici.ts'

/** Milliseconds from the first byte sent to the last byte read. */
const TIMEOUT_MS = 3_000
/** The most bytes of an answer, which we ask for uncompressed. A quote is a few hundred bytes, a list of quotes a few thousand. */
const ANSWER_BYTES_MAX = 64 * 1024
/** A higher number is in the wrong unit: it would be a thousand times any price so far. */
const USD_MAX = 10_000_000
/** A price in the form in which Coinbase, Binance and Kraken write it. */
const DECIMAL = /^[0-9]{1,9}(\.[0-9]{1,18})?$/
/** The most names in the path of a field. */
const PATH_STEPS_MAX = 16

export interface EthUsdOptions {
  url: string
  /** The path to the number in the JSON: `data.amount`, `ethereum.usd`, `result.price.0`. */
  field: string
}

/** Makes one request for the price. Null unless the answer has a number that can be a price, or such a number as text, as exchanges write it. */
export async function fetchEthUsd({ url, field }: EthUsdOptions): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    // undici follows no redirect by default. We rely on that: the source must not be able to send us into our own network.
    const response = await request(url, {
      method: 'GET',
      headers: { accept: 'application/json', 'accept-encoding': 'identity' },
      signal,
    })
    const answer = await readAnswer(response)
    return answer === null ? null : readPrice(JSON.parse(answer), field)
  } catch {
    return null
  }
}

async function readAnswer(response: Dispatcher.ResponseData): Promise<string | null> {
  if (response.statusCode !== 200) {
    // We close the body without reading it, because it may be endless.
    response.body.on('error', () => {}).destroy()
    return null
  }
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body) {
    size += part.length
    // Leaving the loop closes the connection.
    if (size > ANSWER_BYTES_MAX) return null
    parts.push(part)
  }
  return Buffer.concat(parts, size).toString('utf8')
}

/** The number at the path, if it can be a price: positive, finite, and plausible. */
export function readPrice(body: unknown, field: string): number | null {
  const steps = field.split('.')
  if (steps.length > PATH_STEPS_MAX) return null
  let value = body
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return null
    value = (value as { [key: string]: unknown })[step]
  }
  const price = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value
  return typeof price === 'number' && Number.isFinite(price) && price > 0 && price < USD_MAX ? price : null
}
