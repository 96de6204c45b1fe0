// The API's reference on /docs, in the pages' frame: it reads without a script, and a route can be tried in place.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { complaintsOf, contrastViolations, noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startService } from '../support/http.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

const get = (path: string) => fetch(`http://127.0.0.1:${service.port}${path}`)

test('the reference has every operation and schema of the document, and no dead link', async () => {
  const html = await (await get('/docs')).text()
  const { paths, components } = (await (await get('/api/openapi.json')).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>
    components: { schemas: object }
  }
  const ids = Object.values(paths).flatMap(({ get: read, post }) =>
    [read, post].flatMap((one) => one?.operationId ?? []),
  )
  assert.ok(ids.length > 15)
  for (const id of ids) assert.ok(html.includes(`id="${id}"`), id)
  for (const name of Object.keys(components.schemas)) assert.ok(html.includes(`id="schema-${name}"`), name)
  for (const [, target = ''] of html.matchAll(/href="#([^"]+)"/g)) assert.ok(html.includes(`id="${target}"`), target)
})

for (const width of [360, 1280])
  test(`reads in both themes, ${width} wide, without a complaint`, { skip: noBrowser }, async () => {
    const browser = await startBrowser()
    try {
      const page = await browser.newPage({ viewport: { width, height: 900 } })
      const complaints = complaintsOf(page)
      await page.goto(`http://127.0.0.1:${service.port}/docs`)
      await page.getByRole('heading', { level: 1, name: 'API' }).waitFor()
      // The pages' own header comes with their script.
      await page.locator('.top search').waitFor({ state: 'attached' })
      const first = page.locator('.first')
      await first.getByText(/^curl -s 'http.*\/api\/stats'$/).waitFor()
      await first.getByLabel('Example').getByText('"totalNodes": ').waitFor()
      assert.deepEqual(await violations(page), [])
      const route = page.locator('details').filter({ has: page.locator('#getTiers') })
      await route.locator('summary').click()
      await route.getByText(`curl -s 'http`).waitFor()
      await route.getByLabel('Example').getByText('"priceWei": ').waitFor()
      await route.getByRole('button', { name: 'Try it' }).click()
      await route
        .getByLabel('Answer')
        .getByText(/^200\n\{\s+"tiers": \[\]/)
        .waitFor()
      const read = page.locator('.contents [aria-current]')
      assert.notEqual(await read.textContent(), 'Schemas')
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      await read.getByText('Schemas').waitFor()
      await page.emulateMedia({ colorScheme: 'dark' })
      assert.deepEqual(await contrastViolations(page), [])
      assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
      assert.deepEqual(complaints, [])
    } finally {
      await browser.close()
    }
  })
