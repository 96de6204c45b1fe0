// Reads input from others, up to a limit.

/** Everything that a stream yields. Null if that is more than `bytesMax` bytes; the rest is then not read. Throws if the stream does. */
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
