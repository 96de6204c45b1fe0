// The page that owners keep: saved from the service, opened from the disk when service and database are gone, with only a wallet.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { formatEther, getAddress } from 'viem'
import { whileMining } from '../support/anvil.ts'
import { installWallet, LOST, WALLET_NAME } from '../support/browser-wallet.ts'
import { complaintsOf, noBrowser, startBrowser, violations } from '../support/chromium.ts'
import { type Service, startService } from '../support/http.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { ETHER, INTERVAL_SEC, startWorld, type World } from '../support/world.ts'

const OWNER = 5
const FRIEND = 6

describe('the page to keep', { skip: noBrowser }, () => {
  let world: World
  let browser: Browser
  let file: string
  let service: Service
  before(async () => {
    ;[world, browser] = await Promise.all([startWorld(), startBrowser()])
    for (let node = 0; node < 2; node++) await world.pay(OWNER, ETHER / 100n)
    await world.settle()
    await world.chain.increaseTime(2 * INTERVAL_SEC)
    await world.rest()
    const brand = { name: null, logo: null, color: '#1a6b52', contact: null, termsUrl: null }
    const site = { chainName: null, explorerUrl: null, brand }
    service = await startService({ settings: { factoryAddress: world.factory, site } })
    const served = await fetch(`http://127.0.0.1:${service.port}/withdraw.html`)
    assert.equal(served.status, 200)
    assert.match(
      served.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; script-src 'sha256-.*frame-ancestors 'none'$/,
    )
    file = join(temporaryDirectory(), 'withdraw.html')
    const bytes = Buffer.from(await served.arrayBuffer())
    writeFileSync(file, bytes)
    const digest = await (await fetch(`http://127.0.0.1:${service.port}/.well-known/withdraw.sha256`)).text()
    assert.equal(digest, `${createHash('sha256').update(bytes).digest('hex')}  withdraw.html\n`)
  })
  after(async () => {
    await browser.close()
    await world.close()
  })
  const balanceOf = async (id: bigint) => (await world.read<[string, bigint]>('nodeInfo', [id]))[1]
  const etherOf = async (address: string) =>
    BigInt(await world.chain.rpc<string>('eth_getBalance', [address, 'latest']))

  test('is offered on the owner’s page before a sign-in, and works without service and database', async () => {
    const page = await (await browser.newContext()).newPage()
    page.setDefaultTimeout(60_000)
    await installWallet(page, OWNER, world.chain.rpcUrl)
    await page.goto(`http://127.0.0.1:${service.port}/owner`)
    assert.equal(await page.getByRole('link', { name: 'withdraw.html' }).getAttribute('href'), '/withdraw.html')
    await page.getByRole('link', { name: 'withdraw.html' }).click()
    await page.getByRole('button', { name: `Connect ${WALLET_NAME}` }).click()
    await service.close()
    await world.pool.end()
    const [, second = 0n] = await world.read<bigint[]>('nodesOf', [world.at(OWNER)])
    const before = await balanceOf(second)
    await page.getByLabel('From').selectOption(second.toString())
    await page.getByLabel('Amount in ETH').fill(formatEther(1n))
    await page.getByRole('button', { name: `Withdraw ${formatEther(1n)} ETH` }).click()
    await mined(page.getByText(/^Paid out: /))
    assert.equal(await balanceOf(second), before - 1n)
    await page.close()
  })

  test('withdraws from one node and from all, confirms a foreign address, and needs no server', async () => {
    const [first = 0n] = await world.read<bigint[]>('nodesOf', [world.at(OWNER)])
    const before = await balanceOf(first)
    assert.ok(before > 0n)
    const page = await (await browser.newContext()).newPage()
    page.setDefaultTimeout(60_000)
    const complaints = complaintsOf(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const own = await installWallet(page, OWNER, world.chain.rpcUrl)
    await page.goto(pathToFileURL(file).href)
    // Whose sale and which contract, with the fields that are filled folded away.
    await page.getByText('Node Ledger').first().waitFor()
    await page.locator('summary').getByText(getAddress(world.factory)).waitFor()
    assert.equal(await page.getByLabel('Contract of the nodes').isVisible(), false)
    await page.getByRole('button', { name: `Connect ${WALLET_NAME}` }).waitFor()
    const ground = await page.evaluate("getComputedStyle(document.querySelector('#wallets button')).backgroundColor")
    assert.equal(ground, 'rgb(26, 107, 82)', 'the seller’s colour')
    await page.getByRole('button', { name: `Connect ${WALLET_NAME}` }).click()
    await page.getByRole('row', { name: `Node ${first} ${formatEther(before)}` }).waitFor()
    // All decimals of each balance, so that they line up.
    for (const cell of await page.locator('#nodes td:last-child').allTextContents())
      assert.match(cell, /^(0|\d+\.\d{18})$/)
    assert.deepEqual(await violations(page), [])
    await page.getByRole('button', { name: 'Change' }).click()
    await page.getByRole('button', { name: `Connect ${WALLET_NAME}` }).click()

    const withdraw = page.getByRole('button', { name: 'Withdraw' })
    await page.getByLabel('From').selectOption(first.toString())
    await page.getByLabel('Amount in ETH').fill(formatEther(before + 1n))
    await withdraw.click()
    await page
      .getByRole('alert')
      .getByText(/holds only/)
      .waitFor()
    assert.deepEqual(own.asked, [], 'what the contract would refuse is not put to the wallet')

    await page.getByRole('button', { name: 'Max' }).click()
    await page.getByLabel('To', { exact: true }).fill(world.at(FRIEND))
    await withdraw.click()
    await page.getByText('Confirm first that you have checked the address.').waitFor()
    const friendBefore = await etherOf(world.at(FRIEND))
    await page.getByLabel(/I have compared every character/).check()
    own.refuseNext()
    await withdraw.click()
    await page
      .getByRole('alert')
      .getByText(/declined/i)
      .waitFor()
    own.refuseNext(LOST)
    await withdraw.click()
    await page.getByText('The wallet may have sent it anyway').waitFor()
    await withdraw.click()
    await mined(page.getByText(`Paid out: ${formatEther(before)} ETH to`))
    assert.equal(await etherOf(world.at(FRIEND)), friendBefore + before)
    assert.equal(await balanceOf(first), 0n)

    await page.getByLabel('From').selectOption('all')
    assert.equal(await page.getByLabel('Amount in ETH').isVisible(), false)
    await page.getByLabel('To', { exact: true }).fill(world.at(OWNER))
    await page.getByRole('button', { name: 'Withdraw all' }).click()
    await mined(page.getByText(/^Paid out: .* ETH to/))
    for (const id of await world.read<bigint[]>('nodesOf', [world.at(OWNER)])) assert.equal(await balanceOf(id), 0n)
    assert.deepEqual(asked, [pathToFileURL(file).href])
    assert.deepEqual(complaints, [])
  })

  /** Waits for an effect of a block, and mines meanwhile. */
  async function mined(shown: { waitFor(): Promise<void> }): Promise<void> {
    await whileMining(world.chain, () => shown.waitFor(), 300)
  }
})
