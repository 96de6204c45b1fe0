#!/usr/bin/env node
// The command `node-ledger`: src/main.ts in a checkout. A package and the image have src/main.js in its place.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runWithRuntime } from './runtime.mjs'

// Answers live for milliseconds: a young generation of 8 MB keeps them as well as the 64 MB that V8 would let it grow to. And with a limit
// on the old one, V8 lets garbage grow there to half of what lives beside it, without one to three times as much (MaxGrowingFactor in its
// src/heap/memory-controller.cc). The image, the systemd unit and what `init` writes start without this file. They name the same, and the same
// of what follows.
const MEMORY = ['--max-semi-space-size=4', '--max-old-space-size=512']
// For the memory outside that heap. glibc would keep an arena for each thread, and what was freed in any of them; and would learn to keep blocks
// of up to 32 MB. So it keeps one, and gives back each block of 128 KB or more. Below that, each read of a socket would be a call of the system.
const OUTSIDE_HEAP = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' }
// As src/main.ts has it, and for that file, too: where nothing is left to be stripped of types, what strips them is not loaded, which is 20 MB
// and as many milliseconds.
const CACHE = { NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/node-ledger', import.meta.url)) }
const [source, compiled] = ['ts', 'js'].map((kind) => fileURLToPath(new URL(`../src/main.${kind}`, import.meta.url)))
const main = existsSync(source) ? source : compiled
runWithRuntime([...MEMORY, main, ...process.argv.slice(2)], { ...CACHE, ...OUTSIDE_HEAP })
