#!/usr/bin/env node
// Runs a script of the repository with the runtime that npm installed: node bin/with-runtime.mjs <script> [args].
import { runWithRuntime } from './runtime.mjs'

runWithRuntime(process.argv.slice(2))
