// Unhappy ends of a purchase, as stories for a desktop and for a phone. Each has its own account of the chain.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { type BrowserWallet, WALLET_NAME } from '../../support/browser-wallet.ts'
import { type Service, type WellKnown, wallet } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const BASIC_WEI = 10n ** 16n
const NEVER_SENT = `0x${'5'.repeat(64)}`

export interface End {
  page: Page
  own: BrowserWallet
  account: number
  service: Service
  wellKnown: WellKnown
  adminKey: string
  /** Called when a page shows what its reader has to check; `next` is what they can press, if anything. */
  look(next?: string | RegExp): Promise<void>
}

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click()
const pay = ({ account, wellKnown }: End, valueWei: bigint) =>
  wallet(account, wellKnown).pay(wellKnown.paymentAddress, valueWei)

async function connect({ page, service }: End, path: string): Promise<void> {
  await page.goto(service.url + path)
  await press(page, 'Connect a wallet')
  await press(page, WALLET_NAME)
}

async function act({ service, adminKey }: End, path: string, body: object): Promise<void> {
  const answer = await fetch(`${service.url}/api/admin/${path}`, {
    method: 'POST',
    headers: { 'x-admin-key': adminKey, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify(body),
  })
  assert.equal(answer.status, 200, await answer.text())
}

/** The same while the service has not followed the block yet: the page finds the transfer in the chain. */
async function beforeTheServiceSees(end: End): Promise<void> {
  await end.page.route(/api\/payments\/0x/, (route) => route.fulfill({ json: [] }))
  await end.page.route(/api\/events/, (route) => route.abort())
  await whileTheWalletAsks(end)
}

async function whileTheWalletAsks(end: End): Promise<void> {
  const { page } = end
  await connect(end, '/buy/basic')
  // A wallet that does not answer: the buyer opens it, and the page is gone meanwhile.
  await page.evaluate(`{
      const answer = window.walletAnswer
      window.walletAnswer = (asked) => (asked.method === 'eth_sendTransaction' ? new Promise(() => {}) : answer(asked))
    }`)
  await press(page, 'Pay 0.01 ETH')
  await page.getByText('Confirm in the wallet…').waitFor()
  await page.reload()
  await page.getByText('Check your wallet before you pay again.').waitFor()
  assert.equal(await page.getByRole('button', { name: /^Pay / }).count(), 0)
  await end.look()
  await pay(end, BASIC_WEI)
  await page.getByRole('link', { name: 'See this payment' }).click()
  await page.getByText(/Node \d+ is yours/).waitFor()
  await end.look('See the node')
}

async function ofAWrongAmount(end: End): Promise<void> {
  const { page, own, service } = end
  const txHash = await pay(end, BASIC_WEI + 7n)
  await page.goto(`${service.url}/payment/${txHash}`)
  await page.getByText('7 wei too much').waitFor()
  await end.look()
  await act(end, `payments/${txHash}/release`, { tierId: 'basic', reason: 'a few wei' })
  await page.getByText(/Node \d+ is minted/).waitFor()
  await page.goto(`${service.url}/address/${own.address}`)
  await page.getByRole('table', { name: 'Payments' }).getByText('minted').waitFor()
}

async function closed(end: End): Promise<void> {
  const { page, service } = end
  const txHash = await pay(end, BASIC_WEI - 1n)
  await page.goto(`${service.url}/payment/${txHash}`)
  await page.getByText('1 wei too little').waitFor()
  await act(end, `payments/${txHash}/dismiss`, { reason: 'as agreed' })
  await page.getByText('Closed without a node').waitFor()
  await end.look()
}

const rpc = async ({ wellKnown }: End, method: string, params: unknown[]): Promise<unknown> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(wellKnown.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  return ((await answer.json()) as { result?: unknown }).result
}

/** Sends a transfer and its replacement while the chain stands still. `meet`: what happens between the two. */
async function replace(
  end: End,
  send: () => Promise<string>,
  meet: (txHash: string) => Promise<void>,
): Promise<string> {
  const { account, wellKnown } = end
  await rpc(end, 'evm_setIntervalMining', [0])
  await rpc(end, 'evm_setAutomine', [false])
  try {
    const txHash = await send()
    await meet(txHash)
    const { nonce } = (await rpc(end, 'eth_getTransactionByHash', [txHash])) as { nonce: string }
    return await wallet(account, wellKnown).send(wellKnown.paymentAddress, BASIC_WEI, Number(nonce))
  } finally {
    await rpc(end, 'evm_setIntervalMining', [1])
  }
}

async function spedUp(end: End): Promise<void> {
  const { page } = end
  await connect(end, '/buy/basic')
  await page.getByText('All checks pass').waitFor()
  const by = await replace(
    end,
    async () => {
      await press(page, 'Pay 0.01 ETH')
      await page.waitForURL(/tx=0x/)
      return /tx=(0x[0-9a-f]{64})/.exec(page.url())?.[1] ?? assert.fail()
    },
    () => page.getByText('Waiting for a block').waitFor(),
  )
  await page.getByText('Your wallet replaced this transaction.').waitFor()
  await page.getByText(/Node \d+ is yours/).waitFor()
  assert.equal(await page.getByText('Not in a block yet').count(), 0)
  assert.match(await page.title(), /^Your node is here/)
  await end.look('See the node')
  await page.reload()
  await page.getByText(/Node \d+ is yours/).waitFor()
  const intent = await page.evaluate<string | null>("localStorage.getItem('node-ledger.intent')")
  assert.ok(intent === null || JSON.parse(intent).sent.includes(by))
}

/** By someone who knows only the hash, on a page without a wallet. */
async function spedUpElsewhere(end: End): Promise<void> {
  const { page, account, service, wellKnown } = end
  await replace(
    end,
    () => wallet(account, wellKnown).send(wellKnown.paymentAddress, BASIC_WEI),
    async (txHash) => {
      await page.goto(`${service.url}/payment/${txHash}`)
      await page.getByText('Transaction not found yet').first().waitFor()
      const key = JSON.stringify(`node-ledger.sent.${txHash}`)
      // Not by waitForFunction, which tries again by eval; the pages' policy forbids it.
      await until('the page kept what it saw', () => page.evaluate<boolean>(`sessionStorage.getItem(${key}) !== null`))
    },
  )
  await page.reload()
  await page.getByText('Your wallet replaced this transaction.').waitFor()
  await page.getByText(/Node \d+ is minted/).waitFor()
}

async function replaced(end: End): Promise<void> {
  const { page, own, service } = end
  await page.goto(`${service.url}/`)
  const intent = {
    payer: own.address,
    tierId: 'basic',
    priceWei: BASIC_WEI.toString(),
    at: Date.now(),
    ...{ quantity: 1, paid: 1, asks: 1, sent: [NEVER_SENT], isOpen: false },
  }
  await page.evaluate(`localStorage.setItem('node-ledger.intent', ${JSON.stringify(JSON.stringify(intent))})`)
  await page.goto(`${service.url}/payment/${NEVER_SENT}`)
  await page.getByText('Waiting for a block').waitFor()
  await pay(end, BASIC_WEI)
  await page.getByRole('link', { name: 'view it' }).waitFor()
  await end.look('view it')
  await page.getByRole('link', { name: 'view it' }).click()
  await page.getByText(/Node \d+ is minted/).waitFor()
}

async function takenOffSale(end: End): Promise<void> {
  const { page, own } = end
  const sale = (onSale: boolean) => act(end, 'tiers/plus', { onSale, reason: 'a test' })
  // The page learns nothing of it before the buyer pays, because its checks stand still.
  let checks = 0
  const held = Promise.withResolvers<void>()
  await page.route(/\/api\/can-buy\//, async (route) => {
    if (++checks === 2) await held.promise
    await route.continue()
  })
  await connect(end, '/buy/plus')
  await page.getByText('All checks pass').waitFor()
  await sale(false)
  await press(page, 'Pay 0.025 ETH')
  held.resolve()
  await page.locator('.notice', { hasText: 'Plus is not on sale now.' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Pay 0.025 ETH' }).isDisabled(), true)
  await end.look()
  assert.deepEqual(own.asked, [])
  await sale(true)
}

async function priceChanged(end: End): Promise<void> {
  const { page } = end
  const stale = /\/api\/deploy-quote/
  await page.route(stale, async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, body: (await answer.text()).replace(`${BASIC_WEI}`, '9000000000000000') })
  })
  await connect(end, '/buy/basic')
  await page.getByRole('button', { name: 'Pay 0.009 ETH' }).waitFor()
  await page.unroute(stale)
  await press(page, 'Pay 0.009 ETH')
  await page.getByText('The price is 0.01 ETH now. Nothing was sent.').waitFor()
  await end.look('Pay 0.01 ETH')
  await press(page, 'Pay 0.01 ETH')
  await page.getByText(/Node \d+ is yours/).waitFor()
}

/** Each with what it shows of a payment, and its account. */
export const ENDS: readonly (readonly [title: string, account: number, play: (end: End) => Promise<void>])[] = [
  ['while the wallet still asked is found by its payer, and not offered again before', 5, whileTheWalletAsks],
  ['while the wallet still asked is found in the chain before the service has its block', 16, beforeTheServiceSees],
  ['of a wrong amount shows by how much, waits for the operator, and goes on to its node by itself', 6, ofAWrongAmount],
  ['that is closed says so', 7, closed],
  ['that no provider has leads to what its payer has paid since', 8, replaced],
  ['and sped up in the wallet shows the node of the transaction that took its place', 14, spedUp],
  ['sped up elsewhere is found by the hash of the transfer that was replaced', 15, spedUpElsewhere],
  ['for a tier that was taken off sale while the page was open is not sent', 11, takenOffSale],
  ['at a price that changed while the page was open is not sent, and the new price is shown', 9, priceChanged],
]
