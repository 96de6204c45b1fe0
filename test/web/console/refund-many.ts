// Refunds of several payments in the console: a test for the file that has the console open, at its list of held payments.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { wallet } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import type { ConsoleUnderTest } from '../console.ts'

const ODD_WEI = 10n ** 16n + 7n

export function testRefundMany(opened: ConsoleUnderTest): void {
  const { dialog, confirm, axe } = opened
  test('several refunds are prepared together, and recorded by their transactions', async () => {
    const { page, wellKnown } = opened
    let isFinal = false
    const from = wallet(6, wellKnown)
    await from.pay(wellKnown.paymentAddress, ODD_WEI + 3n)
    await wallet(7, wellKnown).pay(wellKnown.paymentAddress, ODD_WEI + 4n)
    const prepareAll = async () => {
      await page.getByLabel('Choose all shown').check()
      await page.getByRole('button', { name: 'Refund chosen…' }).click()
      await confirm('Prepare the refunds')
    }
    await until('both are listed', async () => (await page.locator('.rows > li').count()) === 2)
    // A payment's block is final after 64 more, so the test answers that in the service's place.
    await page.route('**/refunds/prepare', async (route) => {
      const answer = await route.fetch()
      const found = (await answer.json()) as { results: { prepared: object; from: string; valueWei: string }[] }
      if (!isFinal) return route.fulfill({ response: answer })
      const results = found.results.map((one) => ({ ...one, prepared: { ...one.prepared, sendNow: true } }))
      const transactions = results.map(({ from: to, valueWei: value }) => ({ to, value, data: '0x' }))
      const sendNowWei = String(results.reduce((sum, { valueWei }) => sum + BigInt(valueWei), 0n))
      await route.fulfill({
        response: answer,
        json: { results, sendNowWei, safeBatch: { version: '1.0', transactions } },
      })
    })
    await prepareAll()
    await dialog().getByText('not yet').first().waitFor()
    isFinal = true
    await confirm('Ask again')
    await dialog().getByText('Pay 0.020000000000000021 ETH (20000000000000021 wei) in all').waitFor()
    const [file] = await Promise.all([page.waitForEvent('download'), confirm('File for a Safe')])
    const saved = JSON.parse(readFileSync(await file.path(), 'utf8')) as { transactions: { value: string }[] }
    assert.deepEqual(saved.transactions.map(({ value }) => BigInt(value) - ODD_WEI).sort(), [3n, 4n])
    // It pays only the first.
    const refund = await wallet(8, wellKnown).pay(from.address, ODD_WEI + 3n)
    await dialog().getByLabel('Hash of the transaction').fill(refund)
    await confirm('Record 2 refunds')
    await dialog().getByText('1 recorded.').waitFor()
    await dialog()
      .getByText(/The refund went to/)
      .waitFor()
    await axe()
    await confirm('Done')
    await prepareAll()
    const other = await wallet(8, wellKnown).pay(wallet(7, wellKnown).address, ODD_WEI + 4n)
    await dialog().getByLabel('Hash of the transaction').fill(other)
    await confirm('Record 1 refund')
    await dialog().getByText('1 recorded.').waitFor()
    await confirm('Done')
    await page.unrouteAll()
    await page.getByText('Nothing is held.').waitFor()
  })
}

export function testRefundAll(opened: ConsoleUnderTest): void {
  const { dialog, choose, confirm, axe } = opened
  test('all of a reason are held for their refunds by their sum, after a preview', async () => {
    const { page, service, wellKnown, key } = opened
    const txHash = await wallet(6, wellKnown).pay(wellKnown.paymentAddress, ODD_WEI + 9n)
    await until('it is listed', async () => (await page.locator('.rows > li').count()) === 1)
    await choose('More actions', 'Refund all of a reason…')
    await dialog().getByLabel('Only payments before this time').fill('in 1h')
    await confirm('Refund all of a reason')
    await dialog()
      .getByText('1 payment would be held for its refund, 0.010000000000000016 ETH in all, paid from')
      .waitFor()
    await confirm('Done')
    await choose('More actions', 'Refund all of a reason…')
    await dialog().getByLabel('Only payments before this time').fill('4000000000')
    await dialog().getByLabel('Only show what would happen').selectOption('no')
    await dialog().getByLabel('The sum that the preview showed').fill('0.010000000000000016')
    // Only a final block's payment is in a file, so the test adds one.
    const transactions = [{ to: wellKnown.paymentAddress, value: '7', data: '0x' }]
    await page.route('**/refunds/prepare-all', async (route) => {
      const answer = await route.fetch()
      const safeBatches = [{ version: '1.0', meta: { checksum: '0x1' }, transactions }]
      await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), safeBatches } })
    })
    await confirm('Refund all of a reason')
    await dialog().getByText('1 payment is held for its refund').waitFor()
    const [file] = await Promise.all([page.waitForEvent('download'), confirm('File for a Safe')])
    assert.equal(JSON.parse(readFileSync(await file.path(), 'utf8')).transactions[0].value, '7')
    await axe()
    await confirm('Done')
    await page.unrouteAll()
    for (const path of ['refund/cancel', 'dismiss']) {
      const headers = { 'x-admin-key': key(), 'content-type': 'application/json' }
      const url = `${service.url}/api/admin/payments/${txHash}/${path}`
      assert.equal((await fetch(url, { method: 'POST', headers, body: '{}' })).status, 200, path)
    }
    await page.getByText('Nothing is held.').waitFor()
  })
}
