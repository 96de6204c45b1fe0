// The wallets that buyers pay to: the current wallet, when a change takes effect, and wallets that we still watch.
import { LISTS } from '../../../../api/admin-acts.ts'
import { checksummed, figure } from '../../format.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Whole } from '../../ui/facts.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type Shape, useAdmin } from '../admin.ts'
import { Exact } from '../exact.tsx'
import { columnsOf, entryFacts } from '../list.tsx'

type Wallet = Shape<'PaymentsWallet'>

export function Wallets() {
  const reading = useAdmin('payment-wallets')
  return (
    <Section title="Payments wallet" aside={<Change />}>
      <Shown reading={reading} lines={4}>
        {({ wallets }) => {
          const current = wallets.find(({ state }) => state === 'inForce')
          return (
            <div className="stack">
              {current && <Current of={current} />}
              {(wallets.length > 1 || !current) && (
                <Table
                  caption="Payments wallets"
                  rows={[...wallets].reverse()}
                  keyOf={({ wallet, fromBlock }) => `${wallet} ${fromBlock}`}
                  columns={COLUMNS.filter(({ cell }) => wallets.some((wallet) => cell(wallet) !== null))}
                  empty={<Empty title="No payments wallet yet.">Nothing can be bought until there is one.</Empty>}
                />
              )}
            </div>
          )
        }}
      </Shown>
    </Section>
  )
}

/** The wallet that buyers see, in whole, and what the ledger has on record of it. */
function Current({ of: entry }: { of: Wallet }) {
  const whole = checksummed(entry.wallet)
  const audit = useAdmin('reconciliation').data?.wallets.find(({ address }) => checksummed(address) === whole)
  return (
    <Facts
      of={{
        'Buyers pay to': (
          <>
            <Whole of={whole} /> <CopyButton text={whole} what="address" />
          </>
        ),
        ...(audit && {
          'Balance on record': (
            <>
              <Exact wei={audit.bookedWei} />
              {audit.auditedBlock !== null && (
                <span className="note">, checked up to block {figure(audit.auditedBlock)}</span>
              )}
            </>
          ),
        }),
        ...entryFacts(entry),
      }}
    />
  )
}

const Change = () => (
  <ActButton
    danger
    tries
    label="Change the wallet"
    act="payment-wallets"
    says="Buyers see the new wallet after 64 blocks and five minutes; the service watches it from the next block on. If the present one was stolen, buyers see the new one from the next block on."
    warning="It must be a wallet of your own whose key no server holds."
  />
)

const COLUMNS = columnsOf<Wallet>(LISTS['payment-wallets'].columns, {
  cells: {
    fromBlock: ({ fromBlock }) => fromBlock || null,
    stolen: ({ stolen }) => (stolen ? 'yes' : null),
    closedBlock: ({ closedBlock }) => closedBlock,
  },
  decide: actFor,
})

function actFor({ wallet, state }: Wallet) {
  if (state === 'planned')
    return (
      <ActButton
        label="Cancel change"
        act="payment-wallets/cancel"
        body={{ address: wallet }}
        says={`Buyers never see ${wallet}. Rejected once it is in force, or has received a payment.`}
      />
    )
  if (state === 'old')
    return (
      <ActButton
        label="Close its books"
        act="payment-wallets/close"
        body={{ address: wallet }}
        says={`From the next block on, the service ignores payments to ${wallet}.`}
        danger
      />
    )
  return null
}
