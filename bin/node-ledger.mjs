#!/usr/bin/env node
// The command `node-ledger`: src/main.ts in a checkout. A package has src/main.js in its place (Node strips no types under
// node_modules).
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runWithRuntime } from './runtime.mjs'

// Answers live for milliseconds: a young generation of 16 MB keeps them as well as the 64 MB that V8 would let it grow to. And with a limit
// on the old one, V8 lets garbage grow there to half of what lives beside it, without one to three times as much (MaxGrowingFactor in its
// src/heap/memory-controller.cc). The image and the systemd unit, which start without this file, name the same.
const MEMORY = ['--max-semi-space-size=8', '--max-old-space-size=512']
// As src/main.ts has it, and for that file, too: where nothing is left to be stripped of types, what strips them is not loaded, which is 20 MB
// and as many milliseconds.
const CACHE = { NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/node-ledger', import.meta.url)) }
const [source, compiled] = ['ts', 'js'].map((kind) => fileURLToPath(new URL(`../src/main.${kind}`, import.meta.url)))
const main = existsSync(source) ? [source] : ['--enable-source-maps', compiled]
runWithRuntime([...MEMORY, ...main, ...process.argv.slice(2)], CACHE)
