// The operator at the console: the key, a held payment released with a tier, a refund refused and one proven, the deny list, unpaid nodes,
// webhooks, tiers, the switch, terms, payments wallets, the books. Real Chromium, the real service.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { EMBED_PARTS } from '../../packages/embed/chain.ts'
import { complaintsOf, noBrowser, pressIn, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startService, type WellKnown, wallet } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { type Receiver, SECRET, startReceiver } from '../webhooks/receiver.ts'

const LONG_MS = 60_000
const BASIC_WEI = 10n ** 16n
const ODD_WEI = BASIC_WEI + 7n

describe('the console', { skip: noBrowser }, () => {
  const dataDir = temporaryDirectory()
  let service: Service
  let receiver: Receiver
  let browser: Browser
  let page: Page
  let complaints: string[]
  let wellKnown: WellKnown
  before(async () => {
    receiver = await startReceiver()
    const webhooks = { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET: SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' }
    ;[service, browser] = await Promise.all([startService(dataDir, webhooks), startBrowser()])
    wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
    page = await browser.newPage()
    page.setDefaultTimeout(LONG_MS)
    complaints = complaintsOf(page)
  })
  after(async () => {
    await browser.close()
    await service.stop()
    await receiver.close()
  })
  const key = () => (JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as { ADMIN_KEY: string }).ADMIN_KEY
  const go = (name: string) =>
    page.getByRole('navigation', { name: 'Sections of the console' }).getByRole('link', { name, exact: true }).click()
  const dialog = () => page.getByRole('dialog')
  const confirm = (name: string) => pressIn(dialog(), name)
  const axe = async () => assert.deepEqual(await violations(page), [])

  test('opens to the right key alone, and forgets it on a reload', async () => {
    await page.goto(`${service.url}/console`)
    await page.getByLabel('Admin key').fill('not the key')
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByText('The service does not know this key.').waitFor()
    await page.getByLabel('Admin key').fill(key())
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByText('no difference on record').waitFor()
    assert.equal(
      await page
        .evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}])')
        .then((text) => String(text).includes(key())),
      false,
    )
    await page.reload()
    await page.getByLabel('Admin key').fill(key())
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByText('no difference on record').waitFor()
    await axe()
  })

  test('a held payment is shown with its evidence, and released in a tier that is named', async () => {
    await wallet(5, wellKnown).pay(wellKnown.paymentAddress, ODD_WEI)
    await go('Payments')
    await page.getByText('wrongAmount').first().click()
    await page.getByText(ODD_WEI.toString()).first().waitFor()
    await axe()
    await page.getByRole('button', { name: 'Release…' }).click()
    await dialog().getByLabel('Tier').selectOption('basic')
    await dialog().getByLabel('Reason, for the audit log').fill('a few wei too many')
    await confirm('Release')
    await dialog().getByText('Released. The next pass mints the node.').waitFor()
    await confirm('Done')
    await until('the node', async () => (await wallet(5, wellKnown).nodesOf()).length === 1)
    await page.getByText('Nothing is held.').waitFor()
  })

  test('a refund that the chain does not show is refused, and one that it shows is recorded', async () => {
    const from = wallet(6, wellKnown)
    await from.pay(wellKnown.paymentAddress, ODD_WEI)
    await page.getByText('wrongAmount').first().click()
    await page.getByRole('button', { name: 'Record a refund…' }).click()
    const elsewhere = await wallet(7, wellKnown).pay(wallet(8, wellKnown).address, ODD_WEI)
    await dialog().getByLabel('Hash of the refund').fill(elsewhere)
    await confirm('Record a refund')
    await dialog().getByRole('alert').waitFor()
    const refund = await wallet(7, wellKnown).pay(from.address, ODD_WEI)
    await dialog().getByLabel('Hash of the refund').fill(refund)
    await confirm('Record a refund')
    await dialog().getByText('Found on chain and recorded.').waitFor()
    await confirm('Done')
    await page.getByText('Nothing is held.').waitFor()
  })

  test('ether without a known sender can be attributed, not released', async () => {
    // Only a transfer inside a transaction makes one, which needs a contract; what the page does with it is looked at here.
    const payment = {
      ...{ id: 77, txHash: null, innerIndex: 0, from: null, valueWei: `${ODD_WEI}`, status: 'held' },
      ...{ reason: 'unattributed', tierId: null, blockNumber: 9, blockTime: '2026-01-02T03:04:05Z', nodeId: null },
      ...{ updatedAt: '2026-01-02T03:04:05Z', verdict: null },
    }
    await page.route('**/api/admin/payments?status=held*', (route) =>
      route.fulfill({ json: { payments: [payment], nextCursor: null } }),
    )
    await page.route('**/api/admin/payments/77', (route) =>
      route.fulfill({ json: { payments: [{ ...payment, verdicts: [] }] } }),
    )
    await page.getByText('unattributed').first().click()
    await page.getByRole('button', { name: 'Attribute…' }).click()
    assert.equal(await page.getByRole('button', { name: 'Release…', includeHidden: true }).count(), 0)
    const asked = page.waitForRequest('**/api/admin/payments/77/attribute')
    await dialog()
      .getByLabel('Hash of the transaction')
      .fill(`0x${'1'.repeat(64)}`)
    await confirm('Attribute')
    assert.equal((await asked).postDataJSON().txHash, `0x${'1'.repeat(64)}`)
    // The service knows no such payment.
    await dialog().getByRole('alert').waitFor()
    await dialog().getByRole('button', { name: 'Leave it' }).click()
    await page.unrouteAll()
    await page.getByText('Nothing is held.').waitFor()
  })

  test('a stuck account is shown with the reason, and taken over where the operator says so', async () => {
    // Only a provider that is wrong, or a key used elsewhere, makes one; what the page does with it is looked at here.
    const sender = wallet(1, wellKnown).address
    const senders = [{ sender, said: 5_000, known: 7, sinceBlock: 12, takeOver: false }]
    const facts = { id: 3, sender, nonce: 7, kind: 'mint', pendingBlocks: 20, attempts: 2, why: 'nonce' }
    const transactions = [{ ...facts, lastOutcome: 'accepted', maxFeeWei: '7', baseFeeWei: '5' }]
    await page.route('**/api/admin/transactions/stuck', (route) => route.fulfill({ json: { senders, transactions } }))
    await go('Transactions')
    await page.getByRole('row', { name: '5000' }).waitFor()
    await page.getByText('The nonce of its account is in doubt, as above.').waitFor()
    await axe()
    await page.getByRole('button', { name: 'Take over…' }).click()
    const asked = page.waitForRequest('**/api/admin/transactions/free')
    await dialog().getByLabel('Reason').fill('the key was used elsewhere')
    await confirm('Take over')
    assert.deepEqual((await asked).postDataJSON(), { sender, reason: 'the key was used elsewhere' })
    // The service knows of no such nonce.
    await dialog().getByRole('alert').waitFor()
    await dialog().getByRole('button', { name: 'Leave it' }).click()
    await page.unrouteAll()
    await go('Payments')
  })

  test('a wallet is put on the deny list, its payment is held, and it is taken off again', async () => {
    const denied = wallet(9, wellKnown)
    await go('Deny list')
    await page.getByText('No wallet is on the list.').waitFor()
    await page.getByRole('button', { name: 'Add a wallet…' }).click()
    await axe()
    await dialog().getByLabel('Wallet').fill('0x12')
    await dialog().getByLabel('Name').fill('Some exchange')
    await dialog().getByLabel('Reason').fill('pays for its customers')
    await confirm('Add a wallet')
    await dialog().getByRole('alert').getByText('address').waitFor()
    await dialog().getByLabel('Wallet').fill(denied.address)
    await confirm('Add a wallet')
    await dialog().getByText('It is on the list.').waitFor()
    await confirm('Done')
    await page.getByRole('row', { name: 'Some exchange' }).getByText('pays for its customers').waitFor()
    await axe()

    await denied.pay(wellKnown.paymentAddress, BASIC_WEI)
    await go('Payments')
    await page.getByText('senderDenied').first().click()
    await page.getByRole('button', { name: 'Dismiss…' }).click()
    await confirm('Dismiss')
    await confirm('Done')
    await page.getByText('Nothing is held.').waitFor()

    await go('Deny list')
    await page.getByRole('button', { name: 'Take off the list…' }).press('Enter')
    await dialog().getByText(`What Some exchange (${denied.address}) pays from now on`).waitFor()
    await confirm('Take off the list')
    await confirm('Done')
    await page.getByText('No wallet is on the list.').waitFor()
    // The button that was pressed is gone, and who uses a keyboard must not start from the top.
    await page.locator('main :focus').waitFor()
    await denied.pay(wellKnown.paymentAddress, BASIC_WEI)
    await until('the node', async () => (await denied.nodesOf()).length === 1)
  })

  test('an unpaid node waits for a grant, which needs a reason and can be taken back', async () => {
    await go('Nodes')
    await page.getByText('No node waits for a grant.').waitFor()
    const [paid] = await wallet(5, wellKnown).nodesOf()
    assert.ok(paid)
    const id = await wallet(EMBED_PARTS.minter, wellKnown).mintUnpaid(wallet(8, wellKnown).address, paid)
    const row = page.getByRole('row', { name: `#${id}` })
    await row.getByText('none').waitFor()
    await row.getByText('Basic').waitFor()
    await axe()
    await go('State')
    await page.getByRole('definition').filter({ hasText: /^1$/ }).getByRole('link').click()
    await row.getByRole('button', { name: 'Grant…' }).click()
    await confirm('Grant')
    assert.equal(await dialog().locator('input[name=reason]:invalid').count(), 1)
    await dialog().getByLabel('Reason').fill('a prize')
    await confirm('Grant')
    await dialog().getByText('Granted.').waitFor()
    await confirm('Done')
    await page.getByText('No node waits for a grant.').waitFor()
    await page.getByLabel('Which').selectOption('all')
    await row.getByText('“a prize” by').waitFor()
    await axe()
    await row.getByRole('button', { name: 'Take the grant back…' }).click()
    await dialog().getByLabel('Reason').fill('the wrong one')
    await confirm('Take the grant back')
    await confirm('Done')
    await row.getByText('none').waitFor()
    await go('Rounds')
    await page.getByText('Credited nothing for a node without a payment: group').waitFor()
    await axe()
  })

  test('webhooks: what was delivered is shown and sent again, and an endpoint that was given up on is sent to again', async () => {
    await go('Webhooks')
    await page
      .getByRole('row', { name: /127\.0\.0\.1/ })
      .getByText('well')
      .waitFor()
    assert.equal((await page.content()).includes(SECRET), false)
    await page.getByLabel('State').selectOption('delivered')
    await page.getByText('payment.held').last().click()
    await page.getByText(ODD_WEI.toString()).last().waitFor()
    await axe()
    const before = receiver.received.length
    await page.getByRole('button', { name: 'Send again…' }).click()
    await confirm('Send again')
    await dialog().getByText('It is on its way.').waitFor()
    await confirm('Done')
    await until('it came again', async () => receiver.received.length > before)

    // It wants no more; then it does.
    receiver.answer = (response) => void response.writeHead(410).end()
    await wallet(6, wellKnown).pay(wellKnown.paymentAddress, ODD_WEI + 7n)
    await page.getByText('given up').waitFor()
    await page.getByLabel('State').selectOption('pending')
    await page.getByText('payment.held').first().waitFor()
    await axe()
    receiver.answer = (response) => void response.writeHead(204).end()
    await page.getByRole('button', { name: 'Send to it again…' }).click()
    await confirm('Send to it again')
    await confirm('Done')
    await page.getByText('given up').waitFor({ state: 'detached' })
    await page.getByText('None in this state.').waitFor()
  })

  test('a tier is taken off sale, and a new one is created', async () => {
    await go('Tiers')
    await page.getByRole('button', { name: 'Take off sale…' }).first().click()
    await confirm('Take off sale')
    await dialog().getByText('Done.').waitFor()
    await confirm('Done')
    await page.getByText('off sale', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Create a tier…' }).click()
    await dialog().getByLabel('Id').fill('extra')
    await dialog().getByLabel('Name').fill('Extra')
    await dialog().getByLabel('Price in wei').fill('70000000000000000')
    await dialog().getByLabel('Nodes a wallet').fill('3')
    await confirm('Create a tier')
    await dialog().getByText('Created.').waitFor()
    await confirm('Done')
    await page.getByRole('heading', { name: 'Extra extra on sale' }).waitFor()
    await axe()
  })

  test('rounds are paused and go on', async () => {
    await go('Rounds')
    await page.getByRole('button', { name: 'Pause rounds…' }).click()
    await confirm('Pause rounds')
    await confirm('Done')
    await page.getByText('Rounds are paused by the operator.').waitFor()
    await page.getByRole('button', { name: 'Resume rounds…' }).click()
    await confirm('Resume rounds')
    await confirm('Done')
    await page.getByText('Rounds are paused by the operator.').waitFor({ state: 'detached' })
    await axe()
  })

  test('terms are previewed with what the owner has to send, entered, and taken back', async () => {
    await go('Terms')
    const rows = page.getByRole('table', { name: 'Credit terms' }).getByRole('row')
    await rows.filter({ hasText: 'in force' }).waitFor()
    const before = await rows.count()
    await page.getByRole('button', { name: 'Preview terms…' }).click()
    await dialog().getByLabel('Turns due from then on').selectOption('false')
    await confirm('Preview terms')
    await dialog()
      .getByText(/^From .*: turns are not owed, /)
      .waitFor()
    await dialog().getByText('addNotOwed(').waitFor()
    await axe()
    await confirm('Done')
    assert.equal(await rows.count(), before)

    await page.getByRole('button', { name: 'Enter terms…' }).click()
    await dialog().getByLabel('Least draw of a turn, in wei').fill('7')
    await dialog().getByLabel('Most of it').fill('3')
    await confirm('Enter terms')
    await dialog().getByRole('alert').waitFor()
    await dialog().getByLabel('Most of it').fill('3000000000000000')
    await confirm('Enter terms')
    await dialog()
      .getByText(/^From .*: turns are owed, 0\.000000000000000007 to 0\.003 ETH/)
      .waitFor()
    await confirm('Done')
    await rows.filter({ hasText: '0.003 ETH' }).getByText('to come').waitFor()
    await axe()
    await page.getByRole('button', { name: 'Take the latest back…' }).click()
    await confirm('Take the latest back')
    await confirm('Done')
    await page.getByText('to come').waitFor({ state: 'detached' })
    assert.equal(await rows.count(), before)
  })

  test('the payments wallet is changed, taken back, replaced as stolen, and the books of the old one are closed', async () => {
    const [former, planned, next] = [
      wellKnown.paymentAddress,
      wallet(12, wellKnown).address,
      wallet(13, wellKnown).address,
    ]
    const row = (of: string) => page.getByRole('row').filter({ has: page.getByTitle(of) })
    const ask = async (name: string, address: string, stolen = '') => {
      await page.getByRole('button', { name: `${name}…` }).click()
      await dialog().getByLabel('Wallet', { exact: true }).fill(address)
      await dialog().getByLabel('The present wallet').selectOption(stolen)
      await confirm(name)
    }
    await go('Wallets')
    await row(former).getByText('in force').waitFor()
    await ask('Preview a change', planned)
    await dialog().getByText(`A payment to ${former} is a sale until`).waitFor()
    await confirm('Done')
    assert.equal(await row(planned).count(), 0)
    await ask('Change the wallet', wallet(EMBED_PARTS.minter, wellKnown).address)
    await dialog().getByRole('alert').getByText('minter').waitFor()
    await dialog().getByLabel('Wallet', { exact: true }).fill(planned)
    await confirm('Change the wallet')
    await dialog().getByText(`Buyers pay to ${planned} from block`).waitFor()
    await confirm('Done')
    await row(planned).getByText('to come').waitFor()
    await axe()
    await row(planned).getByRole('button', { name: 'Take back…' }).click()
    await confirm('Take back')
    await dialog().getByText('Taken back.').waitFor()
    await confirm('Done')
    await row(planned).waitFor({ state: 'detached' })

    await ask('Change the wallet', next, 'true')
    await dialog().getByText(`No later payment to ${former} is a sale.`).waitFor()
    await confirm('Done')
    await row(next).getByText('in force').waitFor()
    await until('the new wallet to be published', async () => {
      const told = await service.get<WellKnown>('/.well-known/node-ledger.json')
      return told.paymentAddress === next
    })
    await row(former).getByRole('button', { name: 'Close its books…' }).click()
    // Refused while a pass has not audited the last block yet.
    await until('the books are closed', async () => {
      if (await dialog().getByText('Closed with block').isVisible()) return true
      // The button is away while the act is under way, and for good once it is done.
      await dialog()
        .getByRole('button', { name: 'Close its books', exact: true })
        .click({ timeout: 2_000 })
        .catch(() => {})
      return null
    })
    await confirm('Done')
    await row(former).getByText('closed').waitFor()
    await axe()
  })

  test('every section fits a phone, in the dark theme too, whatever was entered', async () => {
    const long = { address: wallet(9, wellKnown).address, label: 'W'.repeat(64), reason: 'w'.repeat(400) }
    const headers = { 'x-admin-key': key(), 'content-type': 'application/json' }
    const url = `${service.url}/api/admin/senders`
    assert.equal((await fetch(url, { method: 'POST', headers, body: JSON.stringify(long) })).status, 200)
    await page.setViewportSize({ width: 360, height: 640 })
    await page.emulateMedia({ colorScheme: 'dark' })
    const sections = page.getByRole('navigation', { name: 'Sections of the console' }).getByRole('link')
    for (const name of await sections.allTextContents()) {
      await go(name)
      if (name === 'Deny list') await page.getByText(long.label, { exact: true }).waitFor()
      await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
      await axe()
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      assert.ok((overflow as number) <= 0, `${name} scrolls sideways by ${overflow}`)
    }
    await go('Deny list')
    await page.getByRole('button', { name: 'Add a wallet…' }).click()
    // Nothing of the page covers a dialog that takes the whole height.
    await dialog().getByRole('button', { name: 'Close' }).click()
    await dialog().waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 1280, height: 720 })
    await page.emulateMedia({ colorScheme: null })
  })

  test('the statement adds up, its file comes, and the audit log knows who did what', async () => {
    await go('Books')
    await page.getByText('Sales in all').waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'As CSV' }).click(),
    ])
    assert.match(file.suggestedFilename(), /^node-ledger-statement-\d+\.csv$/)
    const month = await page.getByLabel('Month').inputValue()
    const exported = page.waitForRequest('**/api/admin/exports/*')
    await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'refunds' }).click()])
    assert.match((await exported).url(), new RegExp(`/exports/refunds.csv\\?month=${month}$`))
    await axe()
    await go('Transactions')
    await page.getByText('openCohorts').first().waitFor()
    await axe()
    await go('Audit log')
    await page.getByText('a few wei too many').first().waitFor()
    await axe()
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.getByLabel('Admin key').waitFor()
    assert.deepEqual(
      complaints.filter((complaint) => !/responded with a status of (4\d\d)/.test(complaint)),
      [],
    )
  })
})
