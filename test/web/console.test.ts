// The operator in the console: the key, a held payment released with a tier, a refund refused and one proven, the deny list,
// unpaid nodes, webhooks, the books. Real Chromium, the real service. The sale's own sections are in console-sale.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { EMBED_PARTS } from '../../packages/embed/chain.ts'
import { noBrowser } from '../support/chromium.ts'
import { type Service, type WellKnown, wallet } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type Receiver, SECRET, startReceiver } from '../webhooks/receiver.ts'
import { testBooks } from './console/books.ts'
import { testKeys } from './console/keys.ts'
import { testPhone } from './console/phone.ts'
import { testRefundAll, testRefundMany } from './console/refund-many.ts'
import { testTrends } from './console/trends.ts'
import { openConsole } from './console.ts'

const BASIC_WEI = 10n ** 16n
const ODD_WEI = BASIC_WEI + 7n

describe('the console', { skip: noBrowser }, () => {
  let receiver: Receiver
  const opened = openConsole(async () => {
    receiver = await startReceiver()
    // The test waits for a round that credits nothing to an unpaid node.
    const credit = { CREDIT_INTERVAL_SEC: '20', CREDIT_SLOT_SEC: '10' }
    return { ...credit, WEBHOOK_URL: receiver.url, WEBHOOK_SECRET: SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' }
  })
  const { key, enter, go, unfold, dialog, confirm, axe } = opened
  let page: Page
  let service: Service
  let wellKnown: WellKnown
  before(() => {
    ;({ page, service, wellKnown } = opened)
  })
  after(() => receiver.close())

  test('opens to the right key only, forgets it on a reload, or keeps it for the tab by choice', async () => {
    await page.getByLabel('Admin key').fill('not the key')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('The service does not know this key.').waitFor()
    await enter()
    assert.equal(
      await page
        .evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}])')
        .then((text) => String(text).includes(key())),
      false,
    )
    await page.reload()
    await page.getByLabel('Keep it for this tab').check()
    await enter()
    await page.reload()
    await page.getByText('no difference on record').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Admin key').waitFor()
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
    // A browser without a network still reaches a service on its own machine.
    await page.evaluate("dispatchEvent(new Event('offline'))")
    await enter()
    assert.equal(await page.title(), 'Overview · Operator console · Node Ledger')
    await page.getByText('Nothing to do.').waitFor()
    // What buyers look for is not in the operator's way.
    assert.equal(await page.getByRole('navigation', { name: 'Pages' }).count(), 0)
    // What the contract's owner lets the service do, as a pass has read it.
    await page.getByText('Groups left to open').waitFor()
    await page.getByTitle('1000000000000000000 wei').waitFor()
    await axe()
  })

  test('a held payment is shown with its evidence, and released in the chosen tier', async () => {
    await wallet(5, wellKnown).pay(wellKnown.paymentAddress, ODD_WEI)
    await go('Payments')
    await page.locator('.rows summary').getByTitle(wallet(5, wellKnown).address).waitFor()
    await page.locator('.entry').filter({ hasText: 'Payments' }).getByText('1 to do').waitFor()
    await page.locator('.rows summary').getByText('7 wei more than Basic').waitFor()
    await unfold('wrong amount')
    await page.getByText(`0.010000000000000007 ETH (${ODD_WEI} wei)`).first().waitFor()
    await page.getByText('It matched no tier’s price when it was paid: 7 wei more than Basic.').waitFor()
    await page.getByText('What the rule saw').click()
    await page.getByText('Received', { exact: true }).waitFor()
    await axe()
    await page.getByRole('button', { name: 'Release…' }).click()
    // The nearest tier is selected; the dialog reports the difference from its price, and requires a reason.
    assert.equal(await dialog().getByLabel('Tier').inputValue(), 'basic')
    await dialog().getByText('The amount is 7 wei more than the price of Basic').waitFor()
    await confirm('Release')
    assert.equal(await dialog().locator('input[name=reason]:invalid').count(), 1)
    await dialog().getByLabel('Reason').fill('a few wei too many')
    await confirm('Release')
    await dialog().getByText('It is accepted, in tier basic.').waitFor()
    await confirm('Done')
    await until('the node', async () => (await wallet(5, wellKnown).nodesOf()).length === 1)
    await page.getByText('Nothing is held.').waitFor()
  })

  test('a refund that the chain does not show is refused, and one that it shows is recorded', async () => {
    const from = wallet(6, wellKnown)
    await from.pay(wellKnown.paymentAddress, ODD_WEI)
    await unfold('wrong amount')
    assert.equal(await page.getByRole('button', { name: 'Record the refund…' }).count(), 0)
    await page.getByRole('button', { name: 'Refund…' }).click()
    await confirm('Prepare the refund')
    await confirm('Done')
    await page.getByRole('button', { name: 'Record the refund…' }).click()
    assert.equal(await dialog().getByRole('button', { name: /^Copy/ }).count(), 2, 'amount and recipient')
    const elsewhere = await wallet(7, wellKnown).pay(wallet(8, wellKnown).address, ODD_WEI)
    await dialog().getByLabel('The transaction of your refund').fill(elsewhere)
    await confirm('Record the refund')
    await dialog().getByRole('alert').waitFor()
    const refund = await wallet(7, wellKnown).pay(from.address, ODD_WEI)
    await dialog().getByLabel('The transaction of your refund').fill(refund)
    await confirm('Record the refund')
    await dialog().getByText('It is refunded.').waitFor()
    await confirm('Done')
    await page.getByText('Nothing is held.').waitFor()
  })

  test('held payments are found by wallet and transaction, and dismissed together after a preview', async () => {
    const [one, other] = [wallet(6, wellKnown), wallet(7, wellKnown)]
    const hash = await one.pay(wellKnown.paymentAddress, ODD_WEI + 1n)
    await other.pay(wellKnown.paymentAddress, ODD_WEI + 2n)
    const rows = page.locator('.rows > li')
    await until('both are listed', async () => (await rows.count()) === 2)
    await page.getByLabel('Reason').selectOption({ label: 'Wrong amount (2)' })
    const find = page.getByLabel('Find by wallet, transaction or number')
    await find.fill(one.address)
    await find.press('Enter')
    await until('the other is not', async () => (await rows.count()) === 1)
    assert.match(page.url(), new RegExp(`reason=wrongAmount&from=${one.address}$`, 'i'))
    await find.fill(hash)
    await find.press('Enter')
    await page.getByText('8 wei more than Basic').waitFor()
    await page.getByRole('heading', { level: 1, name: /^Payment \d+$/ }).waitFor()
    await page.getByText('0.010000000000000008 ETH', { exact: true }).waitFor()
    // An alert can link to it.
    assert.ok(page.url().endsWith(`/console/payments/${hash}`))
    await axe()
    await page.getByRole('link', { name: 'All payments' }).click()
    await page.getByRole('heading', { level: 1, name: 'Payments', exact: true }).waitFor()
    await page.getByLabel('Choose all shown').check()
    await page.getByText('2 payments chosen, 0.020000 ETH').waitFor()
    // A chosen payment that is open has no second set of buttons.
    await unfold('8 wei more')
    await page.getByText('What the rule saw').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Release…' }).count(), 1)
    // Both are cut to six decimals.
    assert.equal(await rows.locator('summary', { hasText: '0.010000 ETH' }).count(), 2)
    await page.getByRole('button', { name: 'Dismiss…' }).click()
    await confirm('Preview')
    await dialog().getByText('2 would be decided, 0 not.').waitFor()
    await axe()
    await confirm('Dismiss')
    await dialog().getByText('2 decided, 0 not.').waitFor()
    await confirm('Done')
    await page.getByText('Nothing is held.').waitFor()
  })

  testRefundMany(opened)

  testRefundAll(opened)

  testTrends(opened)

  test('a difference from the contract shows its field and both amounts', async () => {
    // The ledger has none, because this tests only the page.
    const read = await fetch(`${service.url}/api/admin/reconciliation`, { headers: { 'x-admin-key': key() } })
    const drift = { kind: 'node', nodeId: 1, field: 'creditedWei', ledger: '5', chain: '1000000000000000' }
    const found = { since: '2026-01-02T03:04:05Z', by: 'reconciler', count: 1, drifts: [drift] }
    const json = { ...((await read.json()) as object), drift: found }
    await page.route('**/api/admin/reconciliation', (route) => route.fulfill({ json }))
    await go('Overview')
    await page.getByRole('listitem').filter({ hasText: '1 difference from the contract' }).waitFor()
    const row = page.getByRole('table', { name: 'Differences' }).getByRole('row').nth(1)
    await row.getByText('0.001 ETH (1000000000000000 wei)').waitFor()
    assert.match(await row.innerText(), /node 1\s+credited\s+0\.000000000000000005 ETH \(5 wei\)/)
    await axe()
    await page.unrouteAll()
    await go('Payments')
  })

  test('ether without a known sender can be attributed, not released', async () => {
    // Only a transfer inside a transaction makes one, which needs a contract. This tests only the page; the service has no such payment.
    const payment = {
      ...{ id: 77, txHash: null, innerIndex: 0, from: null, valueWei: `${ODD_WEI}`, status: 'held' },
      ...{ reason: 'unattributed', tierId: null, blockNumber: 9, blockTime: '2026-01-02T03:04:05Z', nodeId: null },
      ...{ updatedAt: '2026-01-02T03:04:05Z', verdict: null },
    }
    await page.route('**/api/admin/payments?status=held*', (route) =>
      route.fulfill({ json: { payments: [payment], nextCursor: null } }),
    )
    await page.route('**/api/admin/payments/77', (route) =>
      route.fulfill({ json: { payments: [{ ...payment, verdicts: [], parts: [{ id: 78 }], traceShows: null }] } }),
    )
    await unfold('unattributed')
    await page.getByText('Attributed parts').waitFor()
    await page.getByRole('button', { name: 'Attribute…' }).click()
    assert.equal(await page.getByRole('button', { name: 'Release…', includeHidden: true }).count(), 0)
    const asked = page.waitForRequest('**/api/admin/payments/77/attribute')
    await dialog()
      .getByLabel('The transaction, as an explorer shows it')
      .fill(`0x${'1'.repeat(64)}`)
    await confirm('Attribute')
    assert.equal((await asked).postDataJSON().txHash, `0x${'1'.repeat(64)}`)
    await dialog().getByRole('alert').waitFor()
    await dialog().getByRole('button', { name: 'Back' }).click()
    await page.unrouteAll()
    await page.getByText('Nothing is held.').waitFor()
  })

  test('a stuck account is shown with the reason, and taken over if the operator confirms', async () => {
    // Only a wrong provider, or a key used elsewhere, makes one. This tests how the page handles it.
    const sender = wallet(1, wellKnown).address
    const senders = [{ sender, reported: 5_000, known: 7, sinceBlock: 12, takeOver: false }]
    const facts = { id: 3, sender, nonce: 7, kind: 'mint', pendingBlocks: 20, attempts: 2, why: 'nonce' }
    const transactions = [{ ...facts, lastOutcome: 'accepted', maxFeeWei: '7', baseFeeWei: '5' }]
    await page.route('**/api/admin/transactions/stuck', (route) => route.fulfill({ json: { senders, transactions } }))
    await go('Transactions')
    await page.getByRole('row', { name: '5000' }).waitFor()
    await page.getByText('The nonce of its account is in doubt, as above.').waitFor()
    await axe()
    await page.getByRole('button', { name: 'Adopt nonce…' }).click()
    const asked = page.waitForRequest('**/api/admin/transactions/free')
    await dialog().getByLabel('Reason').fill('the key was used elsewhere')
    await confirm('Adopt nonce')
    assert.deepEqual((await asked).postDataJSON(), { sender, reason: 'the key was used elsewhere' })
    // The service has no such nonce.
    await dialog().getByRole('alert').waitFor()
    await dialog().getByRole('button', { name: 'Back' }).click()
    await page.unrouteAll()
    await go('Payments')
  })

  test('a wallet is put on the deny list, its payment is held, and it is removed again', async () => {
    const denied = wallet(9, wellKnown)
    await go('Deny list')
    await page.getByText('No wallet is on the list.').waitFor()
    await page.getByRole('button', { name: 'Add a wallet…' }).click()
    await axe()
    await dialog().getByLabel('The wallet').fill('0x12')
    await dialog().getByLabel('Whose wallet it is').fill('Some exchange')
    await dialog().getByLabel('Reason').fill('pays for its customers')
    await confirm('Add a wallet')
    await dialog()
      .getByRole('alert')
      .filter({ hasText: /^Must be an address/ })
      .waitFor()
    assert.equal(await dialog().getByLabel('The wallet').getAttribute('aria-invalid'), 'true')
    await dialog().getByLabel('The wallet').fill(denied.address)
    await confirm('Add a wallet')
    await dialog().getByText('Payments of this wallet are held from now on.').waitFor()
    await confirm('Done')
    await page.getByRole('row', { name: 'Some exchange' }).getByText('pays for its customers').waitFor()
    await axe()

    await denied.pay(wellKnown.paymentAddress, BASIC_WEI)
    await go('Payments')
    await unfold('sender denied')
    await page.getByRole('button', { name: 'Dismiss…' }).click()
    await confirm('Dismiss')
    await confirm('Done')
    await page.getByText('Nothing is held.').waitFor()

    await go('Deny list')
    await page.getByRole('button', { name: 'Remove…' }).press('Enter')
    await dialog()
      .getByText(/^Only the rules decide about new payments from Some exchange \(0x/)
      .waitFor()
    await dialog().getByText(denied.address).waitFor()
    await confirm('Remove')
    await confirm('Done')
    await page.getByText('No wallet is on the list.').waitFor()
    // The pressed button is gone, and a keyboard user must not start from the top.
    await page.locator('main :focus').waitFor()
    await denied.pay(wellKnown.paymentAddress, BASIC_WEI)
    await until('the node', async () => (await denied.nodesOf()).length === 1)
  })

  test('an unpaid node waits for a grant, which needs a reason and can be cancelled', async () => {
    await go('Nodes')
    await page.getByText('No node waits for a grant.').waitFor()
    const [paid] = await wallet(5, wellKnown).nodesOf()
    assert.ok(paid)
    const id = await wallet(EMBED_PARTS.minter, wellKnown).mintUnpaid(wallet(8, wellKnown).address, paid)
    const row = page.getByRole('row', { name: `Node ${id}` })
    await row.getByText('no payment').waitFor()
    await row.getByText('Basic').waitFor()
    await axe()
    await go('Overview')
    await page.getByRole('listitem').filter({ hasText: '1 node has no payment' }).getByRole('link').click()
    await row.getByRole('button', { name: 'Grant…' }).click()
    await confirm('Grant')
    assert.equal(await dialog().locator('input[name=reason]:invalid').count(), 1)
    await dialog().getByLabel('Reason').fill('a prize')
    await confirm('Grant')
    await dialog().getByText('Granted:').waitFor()
    await confirm('Done')
    await page.getByText('No node waits for a grant.').waitFor()
    await page.getByLabel('Which').selectOption('All')
    await row.getByText('“a prize” by').waitFor()
    await axe()
    await row.getByRole('button', { name: 'Revoke the grant…' }).click()
    await dialog().getByLabel('Reason').fill('the wrong one')
    await confirm('Revoke the grant')
    await confirm('Done')
    await row.getByText('no payment').waitFor()
    await go('Rounds')
    await page.getByText(/^Group \d+ has a node without a payment/).waitFor()
    await page
      .getByRole('table', { name: 'Turns of the next round' })
      .getByText('Not credited', { exact: true })
      .waitFor()
    await axe()
  })

  test('webhooks: deliveries are shown and sent again, also to an endpoint that was given up', async () => {
    await go('Webhooks')
    await page
      .getByRole('row', { name: /127\.0\.0\.1/ })
      .getByText('OK')
      .waitFor()
    assert.equal((await page.content()).includes(SECRET), false)
    await page.getByLabel('State').selectOption('delivered')
    await page.getByText('payment.held').first().click()
    const detail = page.locator('details[open] .detail')
    await detail.getByText(/^0\.01\d* ETH \(\d+ wei\)$/).waitFor()
    // The endpoint's name is in the details alone.
    await detail.getByText(/^127\.0\.0\.1/).waitFor()
    assert.equal(
      await page
        .locator('.rows summary')
        .getByText(/^127\.0\.0\.1/)
        .count(),
      0,
    )
    await axe()
    const before = receiver.received.length
    await page.getByRole('button', { name: 'Send again…' }).click()
    await confirm('Send again')
    await dialog().getByText('sends it again within seconds').waitFor()
    await confirm('Done')
    await until('it came again', async () => receiver.received.length > before)

    // First it wants no more; then it does.
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
    await page.getByText('None of these.').waitFor()
    await page.getByRole('button', { name: 'Choose events…' }).click()
    const kinds = dialog().getByLabel('All, or kinds separated by commas')
    await kinds.fill('payment.hold')
    await confirm('Choose events')
    await dialog().getByText('there is no payment.hold').waitFor()
    await kinds.fill('payment.held,funds.low')
    await confirm('Choose events')
    await dialog().getByText('From now on it gets: payment.held,funds.low.').waitFor()
    await confirm('Done')
    await page.getByText('payment.held, funds.low').waitFor()
  })

  testKeys(opened)

  testPhone(opened)

  testBooks(opened)
})
