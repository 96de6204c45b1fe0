// `npm run coverage`: which branches of the rules about money and auth are covered by their tests. Exits with 1 unless all are covered.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { GROUPS } from './mutation/scope.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const [moneyAndAuth] = GROUPS
const args = [
  ...['--test', '--test-reporter=spec', '--experimental-test-coverage', '--test-coverage-branches=100'],
  ...globSync([...moneyAndAuth.files], { cwd: ROOT }).map((file) => `--test-coverage-include=${file}`),
  ...globSync([...moneyAndAuth.tests], { cwd: ROOT }),
]
// Branch coverage does not depend on millions of cases.
const env = { ...process.env, PROPERTY_SCALE: process.env.PROPERTY_SCALE ?? '0.1' }
const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' })
child.once('exit', (code) => process.exit(code ?? 1))
