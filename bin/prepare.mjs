// After an install in a checkout: builds the pages, where what builds them was installed. Production installs leave it out, and take
// the pages that were built before.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runWithRuntime } from './runtime.mjs'

const vite = fileURLToPath(new URL('../node_modules/vite/bin/vite.js', import.meta.url))
if (existsSync(vite)) runWithRuntime([vite, 'build', 'web', '--logLevel', 'warn'])
