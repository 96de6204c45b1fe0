// The operator in the console's sections of the sale: tiers, the switch, terms, the payments wallet. Real Chromium, the real service.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { EMBED_PARTS } from '../../packages/embed/chain.ts'
import { noBrowser } from '../support/chromium.ts'
import { type Service, type WellKnown, wallet } from '../support/service.ts'
import { until } from '../support/until.ts'
import { openConsole } from './console.ts'

describe('the console, for the sale', { skip: noBrowser }, () => {
  const opened = openConsole()
  const { enter, go, choose, dialog, confirm, axe } = opened
  let page: Page
  let service: Service
  let wellKnown: WellKnown
  before(async () => {
    ;({ page, service, wellKnown } = opened)
    await enter()
  })

  test('a tier is taken off sale, and a new one is created', async () => {
    await go('Tiers')
    await choose('Actions for Basic', 'Take off sale…')
    await confirm('Take off sale')
    await dialog()
      .getByText(/Entered: .* from block/)
      .waitFor()
    await confirm('Done')
    const row = (tier: string) => page.locator('.rows summary').filter({ hasText: tier })
    await row('Basic').getByText('Not on sale', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Create a tier…' }).click()
    await dialog().getByLabel('Name').fill('Extra')
    assert.equal(await dialog().getByLabel('Permanent id').inputValue(), 'extra')
    await dialog().getByLabel('Exact price').fill('0.07')
    await dialog().getByText('0.07 ETH (70000000000000000 wei)').waitFor()
    await dialog().getByLabel('Nodes of this tier that one wallet may hold').fill('3')
    // Fields that may stay empty are folded, unless one of them is wrong.
    const supply = dialog().getByLabel('The most nodes of it ever sold')
    assert.equal(await supply.isVisible(), false)
    await dialog().getByText('13 optional fields').click()
    await supply.fill('many')
    await dialog().getByText('13 optional fields').click()
    await confirm('Create a tier')
    await dialog().getByRole('alert').waitFor()
    await supply.fill('')
    await confirm('Create a tier')
    await dialog()
      .getByText(/Entered: .* from block/)
      .waitFor()
    await confirm('Done')
    await row('Extra').getByText('On sale', { exact: true }).waitFor()
    await choose('Actions for Extra', 'New version…')
    await dialog().getByLabel('New price').fill('0.07.1')
    await confirm('New version')
    await dialog().getByRole('alert').filter({ hasText: 'Must be an amount like 0.01' }).waitFor()
    await dialog().getByLabel('New price').fill('0.08')
    await dialog().getByText('New price, in ETH: 0.07 → 0.08').waitFor()
    await axe()
    await confirm('New version')
    await dialog()
      .getByText(/Entered: .* from block/)
      .waitFor()
    await confirm('Done')
    await row('Extra').getByText('0.08 ETH').waitFor()
    // The row opens to what the line leaves out.
    await row('Extra').click()
    await page.getByRole('table', { name: 'Versions of Extra' }).getByRole('row').nth(2).waitFor()
    await axe()
  })

  test('a change of a tier is entered ahead, shown, and cancelled', async () => {
    await go('Tiers')
    await choose('Actions for Basic', 'New version…')
    await dialog().getByLabel('Name').fill('Later')
    await dialog().getByLabel('When it takes effect').fill('in 2h')
    await confirm('New version')
    await dialog()
      .getByText(/^Entered: .* from .* UTC, in (2 h|1 h 59 min)/)
      .waitFor()
    await confirm('Done')
    const planned = page.getByRole('list', { name: 'Planned' }).getByRole('listitem')
    await planned.filter({ hasText: /From in .*: name .* -> Later/ }).waitFor()
    await axe()
    await planned.getByRole('button', { name: 'Cancel change…' }).click()
    await confirm('Cancel change')
    await dialog()
      .getByText(/^Cancelled: change/)
      .waitFor()
    await confirm('Done')
    await planned.waitFor({ state: 'detached' })
  })

  test('rounds are paused and resumed', async () => {
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

  test('terms are previewed with the owner’s transaction, entered, and cancelled', async () => {
    await go('Terms')
    const rows = page.getByRole('table', { name: 'Credit terms' }).getByRole('row')
    await page.getByText('drawn on chain').waitFor()
    const before = await rows.count()
    await page.getByRole('button', { name: 'Enter terms…' }).click()
    await dialog().getByLabel('Whether turns due from then on are owed').selectOption('false')
    await confirm('Preview')
    await dialog()
      .getByText(/^From .*: turns are not owed, /)
      .waitFor()
    await dialog().getByText('addNotOwed(').waitFor()
    await axe()
    assert.equal(await rows.count(), before)
    await confirm('Back')
    await dialog().getByLabel('Whether turns due from then on are owed').selectOption('')
    await dialog().getByLabel('The least draw of a turn').fill('0.000000000000000007')
    await dialog().getByLabel('The greatest draw of a turn, in ETH').fill('0.000000000000000003')
    await confirm('Preview')
    await dialog().getByRole('alert').waitFor()
    await dialog().getByLabel('The greatest draw of a turn, in ETH').fill('0.003')
    await confirm('Preview')
    await confirm('Enter terms')
    await dialog()
      .getByText(/^From .*: turns are owed, 0\.000000000000000007 to 0\.003 ETH/)
      .waitFor()
    await confirm('Done')
    await rows.filter({ hasText: '0.003 ETH' }).getByText('planned').waitFor()
    await axe()
    await page.getByRole('button', { name: 'Cancel the latest…' }).click()
    await confirm('Cancel the latest')
    await confirm('Done')
    await page.getByText('planned').waitFor({ state: 'detached' })
    assert.equal(await rows.count(), before)
  })

  test('the payments wallet is changed, cancelled, replaced as stolen, and its old books closed', async () => {
    const [former, planned, next] = [
      wellKnown.paymentAddress,
      wallet(12, wellKnown).address,
      wallet(13, wellKnown).address,
    ]
    const row = (of: string) => page.getByRole('row').filter({ has: page.getByTitle(of) })
    const ask = async (name: string, address: string, stolen = '') => {
      await page.getByRole('button', { name: `${name}…` }).click()
      await dialog().getByLabel('The wallet', { exact: true }).fill(address)
      await dialog().getByLabel('The current wallet’s key was stolen').selectOption(stolen)
      await confirm('Preview')
    }
    await go('Payments wallet')
    await page.getByText(former).waitFor()
    await page.getByText('Balance on record').waitFor()
    const headings = () => page.getByRole('columnheader').allTextContents()
    await ask('Change the wallet', wallet(EMBED_PARTS.minter, wellKnown).address)
    await dialog().getByRole('alert').getByText('minter').waitFor()
    await dialog().getByLabel('The wallet', { exact: true }).fill(planned)
    await confirm('Preview')
    await dialog().getByText(`A payment to ${former} is a sale until`).waitFor()
    assert.equal(await row(planned).count(), 0)
    await confirm('Change the wallet')
    await dialog().getByText(`Buyers pay to ${planned} from block`).waitFor()
    await confirm('Done')
    await row(planned).getByText('planned').waitFor()
    await row(former).getByText('in force').waitFor()
    // Columns in which nothing stands are left out.
    const shown = ['Wallet', 'State', 'From block', 'From time', 'Entered by', 'Entered', 'Actions']
    assert.deepEqual(await headings(), shown)
    await axe()
    await row(planned).getByRole('button', { name: 'Cancel change…' }).click()
    await confirm('Cancel change')
    await dialog().getByText('Cancelled.').waitFor()
    await confirm('Done')
    await row(planned).waitFor({ state: 'detached' })

    await ask('Change the wallet', next, 'true')
    await confirm('Change the wallet')
    await dialog().getByText(`No later payment to ${former} is a sale.`).waitFor()
    await confirm('Done')
    await row(next).getByText('in force').waitFor()
    await until('the new wallet to be published', async () => {
      const told = await service.get<WellKnown>('/.well-known/node-ledger.json')
      return told.paymentAddress === next
    })
    await row(former).getByRole('button', { name: 'Close its books…' }).click()
    // The service refuses while a pass has not audited the last block yet.
    await until('the books are closed', async () => {
      if (await dialog().getByText('Closed at block').isVisible()) return true
      // The button is gone while the act runs, and for good once it is done.
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

  test('the mode of contract wallets is set, and a contract allowed and allowed no more', async () => {
    const contract = wallet(14, wellKnown).address
    await go('Contract wallets')
    const inForce = page.getByRole('listitem').filter({ hasText: 'in force' })
    await inForce.getByText('The service holds every payment from a contract for you to decide.').waitFor()
    await page.getByText('No contract is allowed.').waitFor()
    await page.getByRole('button', { name: 'Set the mode…' }).click()
    await dialog().getByLabel('Hold, proven or all').selectOption('proven')
    await confirm('Set the mode')
    await dialog()
      .getByText(/^Entered: proven from block \d+ on\.$/)
      .waitFor()
    await confirm('Done')
    await inForce.getByText('if it has signed in, is a known wallet, or is allowed below').waitFor()
    await page.getByRole('table', { name: 'Modes' }).getByText('in force').waitFor()
    await page.getByRole('button', { name: 'Allow a contract…' }).click()
    await dialog().getByLabel('The contract').fill(contract)
    await dialog().getByLabel('Whose wallet it is').fill('A fund')
    await dialog().getByLabel('Reason').fill('asked by letter')
    await confirm('Allow a contract')
    await dialog().getByText('Allowed. The next payments pass judges').waitFor()
    await confirm('Done')
    await page.getByRole('row', { name: 'A fund' }).getByText('asked by letter').waitFor()
    await axe()
    await page.getByRole('button', { name: 'Disallow…' }).click()
    await confirm('Disallow')
    await dialog().getByText('No longer allowed.').waitFor()
    await confirm('Done')
    await page.getByText('No contract is allowed.').waitFor()
  })
})
