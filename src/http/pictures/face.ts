// The face of the pictures' letters, the same on every machine. Owns how wide a text is, and whether the face has all its letters: it has
// those of Latin, Cyrillic and Greek. Read with the first picture, never at start.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const FAMILY = 'Manrope'
const FILES = {
  500: '@expo-google-fonts/manrope/500Medium/Manrope_500Medium.ttf',
  700: '@expo-google-fonts/manrope/700Bold/Manrope_700Bold.ttf',
} as const
export type Weight = keyof typeof FILES

/** The bytes of a weight. */
export const fontFile = (weight: Weight): Buffer => readFileSync(fileURLToPath(import.meta.resolve(FILES[weight])))

/** What a font file says of its letters. */
interface Letters {
  /** The number of a letter's glyph by its code point; 0 for none. */
  glyphOf(codePoint: number): number
  /** A glyph's width, in parts of the letters' size. */
  widthOf(glyph: number): number
}

const read = new Map<Weight, Letters>()

function lettersOf(weight: Weight): Letters {
  const known = read.get(weight) ?? readLetters(fontFile(weight))
  read.set(weight, known)
  return known
}

/** True if every letter of a text can be drawn. */
export function covers(text: string, weight: Weight): boolean {
  const { glyphOf } = lettersOf(weight)
  return [...text].every((letter) => glyphOf(letter.codePointAt(0) ?? 0) !== 0)
}

/** The width of a text in parts of its size, without kerning, which only makes it narrower. */
export function widthOf(text: string, weight: Weight): number {
  const letters = lettersOf(weight)
  return [...text].reduce((sum, letter) => sum + letters.widthOf(letters.glyphOf(letter.codePointAt(0) ?? 0)), 0)
}

/** Reads the tables of a TrueType file that say this (OpenType: head, hhea, hmtx, and cmap of format 4). */
function readLetters(file: Buffer): Letters {
  const tables = new Map<string, number>()
  for (let at = 12; at < 12 + file.readUInt16BE(4) * 16; at += 16)
    tables.set(file.toString('latin1', at, at + 4), file.readUInt32BE(at + 8))
  const tableAt = (name: string) => {
    const at = tables.get(name)
    if (at === undefined) throw new Error(`the font file has no table ${name}`)
    return at
  }
  const unitsPerSize = file.readUInt16BE(tableAt('head') + 18)
  const widths = file.readUInt16BE(tableAt('hhea') + 34)
  return {
    glyphOf: readCharacterMap(file, tableAt('cmap')),
    widthOf: (glyph) => file.readUInt16BE(tableAt('hmtx') + Math.min(glyph, widths - 1) * 4) / unitsPerSize,
  }
}

/** Segments of code points, each with what to add to get the glyph, or with a list of glyphs. */
function readCharacterMap(file: Buffer, cmap: number): Letters['glyphOf'] {
  const offsets = Array.from({ length: file.readUInt16BE(cmap + 2) }, (_, i) => file.readUInt32BE(cmap + 8 + i * 8))
  const map = offsets.map((offset) => cmap + offset).find((at) => file.readUInt16BE(at) === 4)
  if (map === undefined) throw new Error('the font file has no character map of format 4')
  const bytes = file.readUInt16BE(map + 6)
  const [ends, starts, deltas, ranges] = [map + 14, map + 16 + bytes, map + 16 + 2 * bytes, map + 16 + 3 * bytes]
  return (codePoint) => {
    for (let i = 0; i < bytes; i += 2) {
      if (file.readUInt16BE(ends + i) < codePoint) continue
      const start = file.readUInt16BE(starts + i)
      if (start > codePoint) return 0
      const delta = file.readUInt16BE(deltas + i)
      const range = file.readUInt16BE(ranges + i)
      if (range === 0) return (codePoint + delta) % 65_536
      const glyph = file.readUInt16BE(ranges + i + range + 2 * (codePoint - start))
      return glyph === 0 ? 0 : (glyph + delta) % 65_536
    }
    return 0
  }
}
