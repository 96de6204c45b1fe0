// Reads a PNG as the format has it: checks each part's sum, and gives the colours.
import assert from 'node:assert/strict'
import { crc32, inflateSync } from 'node:zlib'

export interface Picture {
  width: number
  height: number
  /** Red, green and blue of a pixel. */
  at(x: number, y: number): readonly number[]
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
/** Bytes of a pixel, by the colour types that are used: RGB, and with alpha. */
const BYTES_PER_PIXEL: Readonly<Record<number, number>> = { 2: 3, 6: 4 }

export function readPng(bytes: Buffer): Picture {
  assert.ok(bytes.subarray(0, 8).equals(SIGNATURE), 'no PNG')
  const parts = new Map<string, Buffer[]>()
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const body = bytes.subarray(at + 4, at + 8 + bytes.readUInt32BE(at))
    assert.equal(crc32(body), bytes.readUInt32BE(at + 4 + body.length), 'a part is damaged')
    const name = body.toString('latin1', 0, 4)
    parts.set(name, [...(parts.get(name) ?? []), body.subarray(4)])
  }
  const header = parts.get('IHDR')?.[0] ?? assert.fail('no header')
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const size = BYTES_PER_PIXEL[header[9] ?? 0] ?? assert.fail(`colour type ${header[9]}`)
  assert.equal(header[8], 8, 'bits of a colour')
  const pixels = unfiltered(inflateSync(Buffer.concat(parts.get('IDAT') ?? [])), width * size, height, size)
  return {
    width,
    height,
    at: (x, y) => [...pixels.subarray((y * width + x) * size, (y * width + x) * size + 3)],
  }
}

/** Takes the filters back: each byte is told by its neighbours to the left, above, and above to the left. */
function unfiltered(data: Buffer, row: number, height: number, size: number): Buffer {
  assert.equal(data.length, (row + 1) * height)
  const pixels = Buffer.alloc(row * height)
  for (let y = 0; y < height; y++) {
    const filter = data[y * (row + 1)] ?? 0
    for (let x = 0; x < row; x++) {
      const left = x < size ? 0 : (pixels[y * row + x - size] ?? 0)
      const up = y === 0 ? 0 : (pixels[(y - 1) * row + x] ?? 0)
      const corner = x < size || y === 0 ? 0 : (pixels[(y - 1) * row + x - size] ?? 0)
      const told = [0, left, up, (left + up) >> 1, nearest(left, up, corner)][filter] ?? assert.fail(`filter ${filter}`)
      pixels[y * row + x] = ((data[y * (row + 1) + 1 + x] ?? 0) + told) & 0xff
    }
  }
  return pixels
}

function nearest(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}
