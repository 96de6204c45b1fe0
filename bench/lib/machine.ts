// Describes the machine and the commit of a run, for readers of its figures.
import { execFileSync } from 'node:child_process'
import { arch, cpus, loadavg, release, totalmem, type } from 'node:os'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** On one line: processor, memory, system, Node, and how busy the machine was. */
export function describeMachine(): string {
  const cores = cpus()
  const load = loadavg()[0] ?? 0
  return [
    `${cores.length} × ${cores[0]?.model.trim() || 'unknown processor'} (${arch()})`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `${type()} ${release()}`,
    `Node ${process.versions.node}`,
    `load average ${load.toFixed(1)} before the run`,
  ].join(', ')
}

/** The commit, and whether the working tree differed from it. */
export function describeCommit(): string {
  try {
    const git = (...words: string[]) => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim()
    const changed = git('status', '--porcelain', '--', 'src', 'bench', 'contracts/src', 'migrations') !== ''
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`
  } catch {
    return 'no repository'
  }
}
