// Reads what others send, up to a bound.

/** Everything that a stream brings; null if it is more than `bytesMax` bytes, and then the rest is not read. Throws as the stream does. */
export async function readAtMost(bytesMax: number, stream: AsyncIterable<Uint8Array>): Promise<Buffer | null> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of stream) {
    size += part.length
    if (size > bytesMax) return null
    parts.push(part)
  }
  return Buffer.concat(parts, size)
}
