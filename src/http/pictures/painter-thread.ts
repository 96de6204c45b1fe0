// The thread that makes PNGs: it is sent SVG texts, and answers each with the bytes. It draws our own letters alone, and loads nothing.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import { FAMILY, fontFile } from './face.ts'

await initWasm(readFileSync(fileURLToPath(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm'))))
const options = {
  font: { loadSystemFonts: false, fontBuffers: [fontFile(500), fontFile(700)], defaultFontFamily: FAMILY },
}

parentPort?.on('message', (svg: string) => {
  const drawing = new Resvg(svg, options)
  const picture = drawing.render()
  // A copy of its own, since what WebAssembly has is given back.
  const png = Uint8Array.from(picture.asPng())
  picture.free()
  drawing.free()
  parentPort?.postMessage(png, [png.buffer])
})
