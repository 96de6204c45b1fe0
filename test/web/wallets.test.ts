// Buying and owning as people do it: real Chromium, the real service, its real chain and contract, and a wallet that signs.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { encode } from 'uqr'
import { formatEther, getAddress, parseEther } from 'viem'
import { type BrowserWallet, installWallet, LOST, WALLET_NAME } from '../support/browser-wallet.ts'
import { complaintsOf, noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startServiceHere, type WellKnown, wallet } from '../support/service.ts'
import { HANGING_MS, until } from '../support/until.ts'

const BASIC_WEI = 10n ** 16n
const FOUNDER_WEI = 5n * BASIC_WEI
const ADMIN_KEY = 'admin-key-of-the-tests-0123456789a'

/** Chromium logs every 401, 404 and 409; for these pages they are normal answers. */
const faultsIn = (complaints: readonly string[]) =>
  complaints.filter((complaint) => !/responded with a status of (401|404|409)/.test(complaint))

describe('with a wallet', { skip: noBrowser }, () => {
  let service: Service
  let browser: Browser
  let wellKnown: WellKnown
  before(async () => {
    ;[service, browser] = await Promise.all([
      startServiceHere({ ADMIN_KEY, CREDIT_INTERVAL_SEC: '20', CREDIT_SLOT_SEC: '10' }),
      startBrowser(),
    ])
    wellKnown = await service.get<WellKnown>('/.well-known/node-ledger.json')
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  async function open(account: number): Promise<{ page: Page; own: BrowserWallet; complaints: string[] }> {
    const page = await (await browser.newContext()).newPage()
    page.setDefaultTimeout(HANGING_MS)
    const complaints = complaintsOf(page)
    const own = await installWallet(page, account, wellKnown.rpcUrl)
    return { page, own, complaints }
  }
  const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click()
  async function connect(page: Page): Promise<void> {
    await press(page, 'Connect a wallet')
    await press(page, WALLET_NAME)
    await page.getByText('Disconnect').waitFor()
  }

  test('a buyer pays, watches the node come, signs in, is credited, and withdraws', async () => {
    const { page, own, complaints } = await open(5)
    await page.goto(`${service.url}/buy`)
    await page.getByRole('link', { name: 'Buy Basic' }).click()
    await connect(page)
    await page.getByText('All checks pass').click()
    await page.getByText('You have 0 of at most 10 nodes of this tier').waitFor()

    own.refuseNext()
    await press(page, 'Pay 0.01 ETH')
    await page.getByText('You declined in the wallet. Nothing was sent').waitFor()

    await press(page, 'Pay 0.01 ETH')
    // The focus and the title follow the payment.
    await page.locator('h1:focus', { hasText: /^Your node is/ }).waitFor()
    await page.locator('h2:focus', { hasText: /Node \d+ is yours/ }).waitFor()
    assert.match(await page.title(), /Your node is here · Node Ledger$/)
    const [, txHash = ''] = /\/buy\/basic\?tx=(0x[0-9a-f]{64})$/.exec(page.url()) ?? []
    assert.notEqual(txHash, '')
    await page.reload()
    await page.getByText(/Node \d+ is yours/).waitFor()
    const [receipt] = await Promise.all([page.waitForEvent('download'), press(page, 'Save as text')])
    assert.ok(readFileSync(await receipt.path(), 'utf8').includes(`Transfer: ${txHash}\r\n`))
    await page.getByRole('link', { name: 'See the node' }).click()
    await page.getByText('matches the chain').waitFor()
    await press(page, 'Check on the chain yourself')
    await page.getByText(`${WALLET_NAME} agrees`).waitFor()

    await page.getByRole('link', { name: 'My nodes' }).click()
    own.refuseNext()
    await press(page, 'Sign in')
    await page.getByText('The wallet declined.').waitFor()
    await press(page, 'Try again')
    await page.getByText('Signed in as').waitFor()
    await page.getByRole('table', { name: 'Payments' }).getByText('minted').waitFor()

    const [node] = await wallet(5, wellKnown).nodesOf()
    assert.ok(node)
    await until('the first credit', async () => {
      const { balanceWei } = await wallet(5, wellKnown).nodeInfo(node)
      return balanceWei !== '0'
    })
    // From here on no further credit comes in between.
    await fetch(`${service.url}/api/admin/pause`, { method: 'POST', headers: { 'x-admin-key': ADMIN_KEY } })
    await press(page, 'Withdraw')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Amount in ETH').fill('1000')
    await dialog.getByText(/^The node holds/).waitFor()
    await dialog.getByLabel('Amount in ETH').fill('0.0001')
    assert.equal(await dialog.getByLabel('To this wallet').inputValue(), getAddress(own.address))
    await dialog.getByLabel('To').fill(wallet(19, wellKnown).address)
    // The page makes the owner check another address than the wallet's own.
    assert.equal(await dialog.getByRole('button', { name: 'Withdraw' }).isDisabled(), true)
    await dialog.getByLabel('I have checked each character').check()
    assert.deepEqual(await violations(page), [])
    own.refuseNext()
    await dialog.getByRole('button', { name: 'Withdraw' }).click()
    await dialog.getByText('The wallet declined. Nothing was sent.').waitFor()
    // If the wallet errs, it may have sent, so the page prompts again only after its owner has looked.
    own.refuseNext(LOST)
    await dialog.getByRole('button', { name: 'Withdraw' }).click()
    await dialog.getByText('The wallet may have sent it anyway.').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Withdraw' }).isDisabled(), true)
    await dialog.getByLabel('it shows nothing sent').click()
    await dialog.getByRole('button', { name: 'Withdraw 0.0001 ETH' }).click()
    await dialog.getByText(/^Paid out in block/).waitFor()
    assert.equal((await wallet(5, wellKnown).nodeInfo(node)).withdrawnWei, '100000000000000')
    const slip = dialog.getByRole('region', { name: 'Receipt' })
    await slip.getByText('0.0001 ETH (100000000000000 wei)').waitFor()
    await slip.getByText(getAddress(wallet(19, wellKnown).address), { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    assert.deepEqual(own.asked, [
      'eth_sendTransaction',
      'eth_sendTransaction',
      'personal_sign',
      'personal_sign',
      'eth_sendTransaction',
      'eth_sendTransaction',
      'eth_sendTransaction',
    ])

    const history = page.getByRole('table', { name: 'History' })
    await history.getByRole('row', { name: /withdrawn by/ }).waitFor()
    // Without a price feed the page mentions no dollars.
    assert.equal(await history.getByRole('columnheader', { name: 'Worth then' }).count(), 0)
    const [csv] = await Promise.all([page.waitForEvent('download'), press(page, 'Save as CSV')])
    assert.match(readFileSync(await csv.path(), 'utf8'), /\r\nwithdrawal,\d+,[^,]+,100000000000000,0\.0001,,,0x/)

    // If a session ends while the owner fills in the form, the page keeps it.
    await press(page, 'Withdraw')
    await dialog.getByLabel('Amount in ETH').fill('0.0002')
    await page.context().clearCookies()
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
    await dialog.getByText('Your session has ended.').waitFor()
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.getByText('Your session has ended.').waitFor({ state: 'detached' })
    assert.equal(await dialog.getByLabel('Amount in ETH').inputValue(), '0.0002')
    await dialog.getByRole('button', { name: 'Close' }).click()

    // The service is down for this page, and its last answer is enough.
    const before = complaints.length
    await page.route(`${service.url}/**`, (route) => route.abort())
    await page.getByText('The balances are the last that we read.').waitFor()
    await press(page, 'Withdraw')
    await dialog.getByLabel('Amount in ETH').fill('0.0001')
    await dialog.getByRole('button', { name: 'Withdraw' }).click()
    await dialog.getByText(/^Paid out in block/).waitFor()
    await slip.getByText(getAddress(own.address), { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.getByText('The balances are the last that we read.').waitFor({ state: 'detached' })
    complaints.splice(before)

    // A payout is still readable once the ledger, too, has recorded that nothing is left.
    await press(page, 'Withdraw')
    // A round that was pending at the pause is by now in the contract, but not yet on the page.
    const { balanceWei: rest } = await wallet(5, wellKnown).nodeInfo(node)
    await dialog.getByText(`${formatEther(BigInt(rest))} ETH`, { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Max' }).click()
    assert.equal(await dialog.getByLabel('Amount in ETH').inputValue(), formatEther(BigInt(rest)))
    const empty = page.waitForResponse(
      async (answer) => answer.url().endsWith('/api/me') && (await answer.json()).totals.balanceWei === '0',
    )
    await dialog.getByRole('button', { name: 'Withdraw all' }).click()
    await dialog.getByText(/^Paid out in block/).waitFor()
    await empty
    await page
      .getByText('You can withdraw', { exact: true })
      .locator('..')
      .getByText('0 ETH', { exact: true })
      .waitFor()
    await dialog.getByText(/^Paid out in block/).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByText('There is nothing to withdraw now.').waitFor()

    // The wallet declines gifts, and accepts them again.
    const declinesGifts = () => wallet(5, wellKnown).declinesGifts()
    own.refuseNext()
    await press(page, 'Decline gifts')
    await page.getByText('The wallet declined.').waitFor()
    await press(page, 'Decline gifts')
    await page.getByText('Your wallet declines nodes that others send to it.').waitFor()
    await page.getByText('you cannot receive a node from a market').waitFor()
    assert.equal(await declinesGifts(), true)
    await press(page, 'Accept gifts again')
    await page.getByText('Anyone can send your wallet a node.').waitFor()
    assert.equal(await declinesGifts(), false)

    // A wallet that a code pays sees its sales, once it comes to the page again.
    assert.equal(await page.getByRole('heading', { name: 'Your referral codes' }).count(), 0)
    const code = { code: 'Friends', payee: own.address, commissionBps: 250 }
    const headers = { 'x-admin-key': ADMIN_KEY, 'content-type': 'application/json' }
    const body = JSON.stringify(code)
    assert.equal((await fetch(`${service.url}/api/admin/referrals`, { method: 'POST', headers, body })).status, 200)
    await page.reload()
    await page.getByRole('heading', { name: 'Your referral codes' }).waitFor()
    for (const text of ['friends', '2.5% of the price']) await page.getByText(text, { exact: true }).waitFor()
    assert.deepEqual(await violations(page), [])

    await press(page, 'Sign out')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.deepEqual(faultsIn(complaints), [])
  })

  test('a wallet on another chain gets a warning, and can switch', async () => {
    const { page, own, complaints } = await open(6)
    await page.goto(`${service.url}/buy/basic`)
    await connect(page)
    await own.moveTo(1)
    await page.getByText('Your wallet is on chain 1; this ledger is on Local chain (chain 31337).').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Pay 0.01 ETH' }).isDisabled(), true)
    await press(page, 'Switch the wallet')
    await page.getByText('Your wallet is on chain').waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('button', { name: 'Pay 0.01 ETH' }).isEnabled(), true)
    assert.deepEqual(faultsIn(complaints), [])
  })

  test('a connected wallet is there again whenever a page is loaded', async () => {
    const { page } = await open(12)
    await page.goto(`${service.url}/buy/basic`)
    await connect(page)
    // The page believes in a session that the service does not have.
    await page.evaluate("localStorage.setItem('signedIn', 'yes')")
    await page.goto(`${service.url}/owner`)
    await page.getByText('Your session has ended.').waitFor()
    // It was lost in one load of four, if React had discarded the first render.
    for (let load = 0; load < 6; load++) {
      await page.goto(`${service.url}/owner`)
      await page.getByRole('button', { name: 'Sign in' }).waitFor({ timeout: 10_000 })
    }
  })

  test('a wallet that the page has not found again yet is still disconnected', async () => {
    const { page } = await open(15)
    await page.addInitScript(`{
      const answer = window.walletAnswer
      const found = new Promise((resolve) => { window.findAgain = resolve })
      window.walletAnswer = async (asked) => {
        if (asked.method === 'eth_accounts') await found
        return answer(asked)
      }
    }`)
    await page.goto(`${service.url}/buy/basic`)
    await connect(page)
    await page.reload()
    await press(page, 'Disconnect')
    await page.evaluate('findAgain()')
    await page.getByRole('button', { name: 'Connect a wallet' }).waitFor()
    await page.context().close()
  })

  test('a wallet that cannot reach its node reports that, and works again when it can', async () => {
    const { page, own } = await open(7)
    await page.goto(`${service.url}/buy/basic`)
    await connect(page)
    own.cutOff(true)
    await press(page, 'Pay 0.01 ETH')
    await page.getByRole('alert').getByText(/./).first().waitFor()
    own.cutOff(false)
    await press(page, 'Pay 0.01 ETH')
    await page.getByText(/Node \d+ is yours/).waitFor()
  })

  test('a held payment shows why and what happens next, and so does one that buys nothing', async () => {
    const { page, own, complaints } = await open(8)
    const pay = (account: number, value: bigint) => wallet(account, wellKnown).pay(wellKnown.paymentAddress, value)
    // Account 10 holds none of the tokens that the Founder tier requires.
    const held = await pay(10, FOUNDER_WEI)
    const wrong = await pay(8, BASIC_WEI + 1n)
    await page.goto(`${service.url}/buy`)
    await page.getByText('Already paid?').click()
    const field = page.getByLabel('Hash of the transfer')
    await field.fill('0x12')
    await press(page, 'Find it')
    await page.getByText('A transaction hash is 0x and 64 hex digits.').waitFor()
    await field.fill(held)
    await press(page, 'Find it')
    await page.getByText('did not hold the tokens that this tier needs').waitFor()
    await page.getByText('Nothing is lost').waitFor()
    assert.deepEqual(faultsIn(complaints), [])
    await field.fill(wrong)
    await press(page, 'Find it')
    await page.getByText('1 wei too much').waitFor()
    const nothing = await wallet(8, wellKnown).pay(own.address as `0x${string}`, 1n)
    await field.fill(nothing)
    await press(page, 'Find it')
    await page.getByText('It buys no node.').waitFor()
  })

  test('a wallet whose payment would be held cannot pay, and sees why', async () => {
    // It holds none of the tokens that the Founder tier requires.
    const { page, own } = await open(11)
    const answers = /\/api\/can-buy\//
    await page.route(answers, (route) => route.fulfill({ status: 503, json: { error: 'no' } }))
    await page.goto(`${service.url}/buy/founder`)
    await connect(page)
    const pay = page.getByRole('button', { name: 'Pay 0.05 ETH' })
    // An unchecked fact is neither yes nor no.
    await page.getByText('We could not run the checks right now.').waitFor()
    assert.equal(await pay.isEnabled(), true)
    // The page checks once more before the wallet prompts.
    await page.unroute(answers)
    await pay.click()
    await page.getByText('You cannot pay now, because we would hold this payment:').waitFor()
    await page.locator('.notice', { hasText: 'You hold 0 of the 1,000 DEMO that you need.' }).waitFor()
    await page.getByText('1 check failed').click()
    await page.locator('.ticks .fails', { hasText: 'You hold 0 of the 1,000 DEMO' }).waitFor()
    assert.equal(await pay.isDisabled(), true)
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(own.asked, [])
  })

  test('a phone pays by the QR code on a page without a wallet, which continues automatically', async () => {
    const page = await (await browser.newContext()).newPage()
    page.setDefaultTimeout(HANGING_MS)
    const phone = wallet(9, wellKnown)
    const streams: (string | undefined)[] = []
    page.on('request', (request) => {
      if (request.url().includes('/api/events')) streams.push(/\?(\w+)=/.exec(request.url())?.[1])
    })
    await page.goto(`${service.url}/buy/plus`)
    await page.getByLabel('QR or by hand').check()
    const link = await page.getByRole('link', { name: 'Open in a wallet' }).getAttribute('href')
    assert.equal(link, `ethereum:${wellKnown.paymentAddress}@31337?value=25000000000000000`)
    const code = page.getByRole('img', { name: 'QR code of the payment' })
    assert.equal(await code.locator('path').getAttribute('d'), drawn(link))
    await page.getByLabel('Your paying address').fill(phone.address)
    await page.getByText('From an exchange, the exchange gets the node.').waitFor()
    await page.getByText('All checks pass').waitFor()
    await page.getByText('Waiting for a transfer from this address.').waitFor()
    await page.getByText('We cannot see ETH on another network than Local chain (chain 31337).').waitFor()
    // The page learns of the transfer from its stream, because the service would not answer a poll.
    await page.route(/\/api\/payments\/0x/, (route) => route.abort())
    const [, to, value] = /^ethereum:(0x\w{40})@31337\?value=(\d+)$/.exec(link) ?? []
    await phone.pay(to as `0x${string}`, BigInt(value ?? 0))
    await page.getByText(/Node \d+ is yours/).waitFor()
    assert.equal((await phone.nodesOf()).length, 1)
    assert.deepEqual(streams, ['address', 'payment'])
    await page.context().close()
  })

  test('a phone pays by hand what the page copies, connects nothing, and finds its node by hash', async () => {
    const phone = { viewport: { width: 360, height: 800 }, hasTouch: true, isMobile: true }
    const context = await browser.newContext({ ...phone, permissions: ['clipboard-write', 'clipboard-read'] })
    const page = await context.newPage()
    page.setDefaultTimeout(HANGING_MS)
    const copied = async (what: string) => {
      await page.getByRole('button', { name: `Copy ${what}` }).tap()
      return page.evaluate<string>('navigator.clipboard.readText()')
    }
    await page.goto(`${service.url}/buy/basic`)
    await page.getByRole('button', { name: 'Connect a wallet' }).tap()
    await page.getByRole('dialog').getByRole('button', { name: 'Pay by QR code or by hand' }).tap()
    const [amount, to] = [await copied('exact amount'), await copied('to')]
    assert.deepEqual([amount, to], ['0.01', getAddress(wellKnown.paymentAddress)])
    await page.getByText('Local chain (chain 31337)', { exact: true }).waitFor()
    assert.deepEqual(await violations(page), [])
    const txHash = await wallet(14, wellKnown).pay(to as `0x${string}`, parseEther(amount))
    await page.getByText('I have sent it: find my payment').tap()
    await page.getByLabel('Hash of the transfer').fill(txHash)
    await page.getByRole('button', { name: 'Find it' }).tap()
    await page.getByText(/Node \d+ is minted/).waitFor()
    await page.getByRole('link', { name: 'See the node' }).tap()
    const [node] = await wallet(14, wellKnown).nodesOf()
    await page.getByRole('heading', { level: 1, name: `Node ${node}` }).waitFor()
    await context.close()
  })
})

/** The path of a QR code with this text, as pages draw it. */
const drawn = (text: string) =>
  encode(text, { ecc: 'M', border: 3 })
    .data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('')
