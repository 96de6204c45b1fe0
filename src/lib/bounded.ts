// Reads what others send, up to a bound.

/** All that a stream brings; null where that is more than so many bytes, and what is left is not read. Throws as the stream does. */
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
