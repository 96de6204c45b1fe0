// Wallets that do not say what they did with a purchase: unless one returns a hash or a refusal, no one pays twice
// unknowingly. Each story has its own account of the chain.
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { WALLET_NAME } from '../../support/browser-wallet.ts'
import { type WellKnown, wallet } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import type { End } from './ends.ts'

const BASIC_WEI = 10n ** 16n
const PAY = 'Pay 0.01 ETH'
const SHOWS_NOTHING = 'My wallet shows nothing sent'

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click()

async function connect({ page, service }: End): Promise<void> {
  await page.goto(`${service.url}/buy/basic`)
  await press(page, 'Connect a wallet')
  await press(page, WALLET_NAME)
  await page.getByText('All checks pass').waitFor()
}

/** Makes the wallet answer a request to send with this expression of the page, in which `sent()` sends first. */
const answerSendsBy = (page: Page, expression: string) =>
  page.evaluate(`{
    const answer = window.walletAnswer
    window.walletAnswer = (asked) => {
      const sent = () => answer(asked)
      return asked.method === 'eth_sendTransaction' ? ${expression} : answer(asked)
    }
  }`)
const erring = (code: number) => `{ error: { code: ${code}, message: 'the wallet has lost it' } }`
/** The account's purchases from the payments wallet so far. */
const bought = ({ account, wellKnown }: End) => wallet(account, wellKnown).nodesOf()

/** The page has removed the button, and says why. */
async function unsure(page: Page): Promise<void> {
  await page.getByText('Check your wallet before you pay again.').waitFor()
  assert.equal(await page.getByRole('button', { name: /^Pay / }).count(), 0)
  assert.equal(await page.getByLabel('QR or by hand').count(), 0)
}

/** Sends, but answers this. */
const sendsAnd = (answer: string) => async (end: End) => {
  const { page, own } = end
  await connect(end)
  await answerSendsBy(page, `sent().then(() => (${answer}))`)
  await press(page, PAY)
  await page.getByRole('link', { name: 'See this payment' }).click()
  await page.getByText(/Node \d+ is yours/).waitFor()
  assert.deepEqual(own.asked, ['eth_sendTransaction'])
  assert.equal((await bought(end)).length, 1)
}

async function sendsNothingAndErrs(end: End): Promise<void> {
  const { page, own } = end
  await connect(end)
  await answerSendsBy(page, `(${erring(-32000)})`)
  await press(page, PAY)
  await unsure(page)
  await page.getByText('The wallet said: the wallet has lost it').waitFor()
  await end.look(SHOWS_NOTHING)
  // Another tab does not sell either, nor does this one after a reload.
  const tab = await page.context().newPage()
  await tab.goto(page.url())
  await unsure(tab)
  await tab.close()
  await page.reload()
  await unsure(page)
  await press(page, SHOWS_NOTHING)
  await page.getByText('you pay twice and get two nodes').waitFor()
  await press(page, 'Nothing was sent. Buy now')
  await press(page, PAY)
  await page.getByText(/Node \d+ is yours/).waitFor()
  assert.deepEqual(own.asked, ['eth_sendTransaction'])
  assert.equal((await bought(end)).length, 1)
}

const askChain = ({ rpcUrl }: WellKnown, method: string, params: unknown[]) =>
  fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
/** Mines on the ledger's chain. */
const mine = ({ wellKnown }: End, blocks: number) => askChain(wellKnown, 'anvil_mine', [`0x${blocks.toString(16)}`])

/** `sendsElse`: the wallet has sent something that the ledger does not have. */
const isQuiet = (sendsElse: boolean) => async (end: End) => {
  const { page } = end
  await page.clock.install()
  await connect(end)
  let counts = 0
  await page.exposeFunction('counted', () => counts++)
  await answerSendsBy(page, `(${erring(-32603)})`)
  await page.evaluate(`{
    const answer = window.walletAnswer
    window.walletAnswer = (asked) => {
      if (asked.method === 'eth_getTransactionCount') window.counted()
      return answer(asked)
    }
  }`)
  await press(page, PAY)
  await unsure(page)
  // Time alone proves nothing, because the chain may stand still.
  const before = counts
  await until('the nonce to be read twice more', async () => {
    await page.clock.fastForward(40_000)
    return counts >= before + 4
  })
  await unsure(page)
  if (sendsElse) await wallet(end.account, end.wellKnown).pay(end.own.address, 1n)
  await mine(end, 3)
  if (sendsElse) {
    const once = counts
    await until('the nonce to be read once more', async () => {
      await page.clock.fastForward(4_000)
      return counts >= once + 4
    })
    return unsure(page)
  }
  await until('the nonce to be believed', async () => {
    await page.clock.fastForward(4_000)
    return page.getByText('your wallet has made no transaction in 3 blocks').isVisible()
  })
  await page.getByRole('button', { name: PAY }).waitFor()
}

async function neverAnswers(end: End): Promise<void> {
  const { page, own } = end
  await connect(end)
  await answerSendsBy(page, 'sent().then(() => new Promise(() => {}))')
  await press(page, PAY)
  await page.getByText(/Node \d+ is yours/).waitFor()
  assert.deepEqual(own.asked, ['eth_sendTransaction'])
}

async function isAskedElsewhereToo(end: End): Promise<void> {
  const { page } = end
  await connect(end)
  await answerSendsBy(page, 'new Promise(() => {})')
  await press(page, PAY)
  const asking = page.getByRole('button', { name: 'Confirm in the wallet…' })
  await asking.waitFor()
  // Switching to the other way and back does not sell a second one.
  await page.getByLabel('QR or by hand').check()
  await page.getByLabel('Wallet', { exact: true }).check()
  assert.equal(await asking.isDisabled(), true)
}

/** A refusal, or a lack of ether, stays on the page until that changes. */
async function lacksEther(end: End): Promise<void> {
  const { page, own, wellKnown } = end
  const setBalance = (wei: bigint) => askChain(wellKnown, 'anvil_setBalance', [own.address, `0x${wei.toString(16)}`])
  await connect(end)
  own.refuseNext()
  await press(page, PAY)
  const refused = page.getByText('You declined in the wallet.')
  await refused.waitFor()
  await setBalance(BASIC_WEI)
  await page.getByText('Not enough ETH:').waitFor()
  await page.getByRole('listitem').filter({ hasText: 'You have 0.01 ETH. Price and gas need 0.01' }).first().waitFor()
  assert.equal(await refused.count(), 0)
  assert.equal(await page.getByText('because we would hold this payment').count(), 0)
  await setBalance(BASIC_WEI * 100n)
  await page.getByText('Not enough ETH:').waitFor({ state: 'detached' })
  assert.equal(await page.getByRole('button', { name: PAY }).isEnabled(), true)
}

/** A payment by hand for another tier than the page's still moves it on. */
const byHand = (valueWei: bigint, text: RegExp) => async (end: End) => {
  const { page, account, service, wellKnown } = end
  await page.goto(`${service.url}/buy/basic`)
  await page.getByLabel('QR or by hand').check()
  await page.getByLabel('Your paying address').fill(wallet(account, wellKnown).address)
  await page.getByText('Waiting for a transfer from this address.').waitFor()
  await wallet(account, wellKnown).pay(wellKnown.paymentAddress, valueWei)
  await page.getByText(text).first().waitFor()
}

/** Each with what it shows of a wallet, and its account. */
export const UNANSWERED: readonly (readonly [title: string, account: number, play: (end: End) => Promise<void>])[] = [
  ['that sends and then errs sells one node', 12, sendsAnd(erring(-32603))],
  ['that sends and answers with an error of its own sells one node', 14, sendsAnd(erring(8000))],
  ['that sends and answers with no hash sells one node', 15, sendsAnd('{ result: null }')],
  ['that errs and has sent nothing pays again on the buyer’s word, given twice', 16, sendsNothingAndErrs],
  ['that errs pays again once it has sent nothing for three blocks and half a minute', 17, isQuiet(false)],
  ['that sends and never answers is watched while it is asked', 18, neverAnswers],
  ['that errs and has made another transaction sells nothing more by itself', 18, isQuiet(true)],
  ['that is asked is not asked again by another way', 19, isAskedElsewhereToo],
  ['that refuses, and then has too little ether', 16, lacksEther],
  ['that pays a wrong amount by hand', 17, byHand(BASIC_WEI + 9n, /9 wei too much/)],
  ['that pays another tier’s price by hand', 19, byHand(25n * 10n ** 15n, /Node \d+ is yours/)],
]
