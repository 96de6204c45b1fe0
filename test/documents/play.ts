// Plays the shell of a document as a reader types it: all blocks in one bash, in its own directory, with this
// checkout's command line. Replaces the reader's own values (ports, databases) in the document.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runtimeEnv } from '../support/runtime-env.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { ROOT } from './pages.ts'

/** A minute on a quiet machine: some fifteen commands, a few blocks, and a round. */
const PLAY_MS = 220_000
/** For the test that plays, with time to report where it stopped. */
export const PLAY_TIMEOUT_MS = PLAY_MS + 20_000

export interface Played {
  readonly code: number | null
  /** The outputs of the blocks, in their order; missing for blocks that were not reached. */
  readonly outputs: readonly string[]
  readonly said: string
}

/** Runs shell blocks one after the other. Stops at the first command that fails. */
export async function play(blocks: readonly string[], values: Readonly<Record<string, string>>): Promise<Played> {
  const directory = temporaryDirectory()
  const bin = join(directory, '.bin')
  mkdirSync(bin)
  // Runs what npm's npx would in a checkout, without the second that npm takes for it.
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(ROOT, 'src/main.ts')}" "$@"\n`)
  chmodSync(join(bin, 'npx'), 0o755)
  const script = ['set -euo pipefail', ...blocks.map((block) => `${MARK_COMMAND}\n${replaced(block, values)}`)].join(
    '\n',
  )
  const { PATH = '', ...env } = runtimeEnv()
  const child = spawn('bash', ['-c', script], {
    cwd: directory,
    detached: true,
    env: {
      ...env,
      PATH: `${bin}:${PATH}`,
      HOME: directory,
      METRICS_PORT: 'off',
      PORT: values['localhost:3000']?.split(':')[1] ?? '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let said = ''
  child.stdout.on('data', (part) => {
    out += part
  })
  child.stderr.on('data', (part) => {
    said += part
  })
  // The service is a child of bash. Both end, even if this process ends first.
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // All have ended.
    }
  }
  process.once('exit', end)
  const late = setTimeout(end, PLAY_MS)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearTimeout(late)
  process.off('exit', end)
  end()
  return { code, outputs: out.split(MARK).slice(1), said }
}

const MARK = '--- next block ---\n'
const MARK_COMMAND = `echo '${MARK.trim()}'`

function replaced(block: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((text, [from, to]) => text.replaceAll(from, to), block)
}
