// Where Stryker is installed: in its own small package, on first use, so that the project's own dependencies stay few.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TOOL = join(ROOT, 'toolchain/mutation')
export const STRYKER = join(TOOL, 'node_modules/@stryker-mutator')

/** Installs Stryker unless it is there. Ends the process if it cannot. */
export function install(): void {
  if (existsSync(STRYKER)) return
  console.log('Installing Stryker into toolchain/mutation, once.')
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: TOOL,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(2)
}
