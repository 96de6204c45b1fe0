// The process of the command line: passes on arguments, environment and Ctrl-C, and exits with its code.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Caches compiled code across runs; modules imported before this line are not part of it. The cache lies beside the code, so write access to it means
// write access to the code as well. If nothing can be written there, there is no cache.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node-ledger', import.meta.url)))
const { EXIT } = await import('./cli/command.ts')
const { runCli } = await import('./cli/run.ts')

const interrupt = new AbortController()
const argv = process.argv.slice(2)
if (argv[0] !== 'start') {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // A second Ctrl-C exits immediately.
      if (interrupt.signal.aborted) process.exit(EXIT.interrupted)
      interrupt.abort()
    })
  }
}
// The reader of a pipe may have seen enough (| head), which is no error. A full disk is an error, and the code that wrote reports it.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.done)
  process.stderr.write(`The output cannot be written (${error.code}).\n`)
  process.exit(EXIT.negative)
})

const { env, stdin, stdout, stderr } = process
process.exitCode = await runCli(argv, { env, stdin, stdout, stderr }, interrupt)
// By then the last output has gone out or failed.
await new Promise((resolve) => process.stdout.write('', resolve))
process.exit()
