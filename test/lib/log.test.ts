// Lines of the one logger (src/lib/log.ts): JSON, and no secret. test/http/log.test.ts reads those of a service.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

const SECRET = 'not for a log'

/** The log of a separate process, because the logger writes to its standard output. */
function linesOf(statements: string): string[] {
  const module = new URL('../../src/lib/log.ts', import.meta.url).href
  const script = `import { createLog, silentLog } from ${JSON.stringify(module)}\n${statements}`
  const text = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
  return text.split('\n').filter((line) => line !== '')
}

test('a line is JSON with the level by its name and the time as ISO 8601', () => {
  const [line = '', ...more] = linesOf(`const log = createLog('info')
    log.warn({ blockNumber: 7 }, 'said')
    log.debug('below its level')
    silentLog.fatal('nothing')`)
  assert.deepEqual(more, [])
  const { level, time, msg, blockNumber } = JSON.parse(line)
  assert.deepEqual({ level, msg, blockNumber }, { level: 'warn', msg: 'said', blockNumber: 7 })
  assert.equal(new Date(time).toISOString(), time)
})

test('a possible secret is redacted', () => {
  const fields = {
    req: { headers: { cookie: SECRET, authorization: SECRET, 'x-cron-key': SECRET, 'x-admin-key': SECRET } },
    res: { headers: { 'set-cookie': SECRET } },
    signer: { privateKey: SECRET, password: SECRET, secret: SECRET, secrets: [SECRET], signature: SECRET },
  }
  const [line = ''] = linesOf(`createLog('info').info(${JSON.stringify(fields)}, 'said')`)
  assert.ok(!line.includes(SECRET), line)
  assert.equal(line.split('[redacted]').length - 1, 10)
})
