import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { complaintsOf, noBrowser, startBrowser } from '../support/chromium.ts'
import { type Service, startService } from '../support/http.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

const get = (path: string) => fetch(`http://127.0.0.1:${service.port}${path}`)

test('the reference and all it loads come from the service itself', async () => {
  const page = await get('/docs')
  assert.equal(page.status, 200)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  const html = await page.text()
  const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '')
  for (const path of loaded.filter((target) => target !== 'data:,')) {
    assert.match(path, /^\/(docs|api)\//)
    const response = await get(path)
    assert.equal(response.status, 200, path)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.ok((await response.arrayBuffer()).byteLength > 50)
  }
})

test('a browser renders every endpoint without a complaint', { skip: noBrowser }, async () => {
  const browser = await startBrowser()
  try {
    const page = await browser.newPage()
    const complaints = complaintsOf(page)
    await page.goto(`http://127.0.0.1:${service.port}/docs`)
    await page.locator('.opblock').first().waitFor()
    const { paths } = (await (await get('/api/openapi.json')).json()) as { paths: Record<string, object> }
    const operations = Object.values(paths).flatMap((path) =>
      Object.keys(path).filter((key) => /^(get|post)$/.test(key)),
    )
    assert.equal(await page.locator('.opblock').count(), operations.length)
    assert.deepEqual(complaints, [])
  } finally {
    await browser.close()
  }
})
