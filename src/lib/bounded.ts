// Reads what others send, up to a bound.

/** All that a stream yields; null if that exceeds `bytesMax` bytes, in which case the rest is not read. Throws as the stream does. */
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
