#!/usr/bin/env node
// The command `node-ledger`: src/main.ts from a checkout, dist/main.js from a published package (Node strips no types
// under node_modules).
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runWithRuntime } from './runtime.mjs'

const built = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const source = fileURLToPath(new URL('../src/main.ts', import.meta.url))
runWithRuntime([existsSync(source) ? source : built, ...process.argv.slice(2)])
