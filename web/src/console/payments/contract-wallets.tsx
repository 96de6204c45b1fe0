// Contract wallets: whose payments by internal calls become nodes automatically, from which block on, and the allowed contracts.
import { LISTS } from '../../../../api/admin-acts.ts'
import { sentenceCase } from '../../format.ts'
import { Mark } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type EnteredMode, type Shape, useAdmin } from '../admin.ts'
import { columnsOf } from '../list.tsx'

type Mode = Shape<'ContractWallets'>['mode']
const MEANS: Record<Mode, string> = {
  hold: 'The service holds every payment from a contract for you to decide.',
  proven: 'A contract may buy if it has signed in, is a known wallet, or is allowed below.',
  all: 'Any contract may buy.',
}

export function ContractWalletsConsole() {
  const reading = useAdmin('contract-wallets')
  return (
    <>
      <Section title="Contract wallets" aside={<SetMode />}>
        <Shown reading={reading} lines={4}>
          {(answer) => <Modes {...answer} />}
        </Shown>
      </Section>
      <Section title="Allowed contracts" aside={<Allow />}>
        <Shown reading={reading} lines={4}>
          {({ allowed }) => (
            <Table
              caption="Allowed contracts"
              rows={allowed}
              keyOf={({ address }) => address}
              columns={ALLOWED}
              empty={
                <Empty title="No contract is allowed.">
                  In the mode “Proven”, one that has signed in or is a known wallet needs no entry here.
                </Empty>
              }
            />
          )}
        </Shown>
      </Section>
    </>
  )
}

function Modes({ mode, modes, knownWallets }: Shape<'ContractWallets'>) {
  const current = modes.findLast((entry) => entry.mode === mode)
  return (
    <div className="stack">
      <ul className="todo" title={`The list of known wallets is version ${knownWallets}.`}>
        {Object.entries(MEANS).map(([each, means]) => (
          <li key={each}>
            <span className={each === mode ? undefined : 'note'}>
              <strong>{sentenceCase(each)}</strong>: {means}
            </span>
            {each === mode && <Mark tone="good">in force</Mark>}
          </li>
        ))}
      </ul>
      {modes.length > 0 && (
        <Table
          caption="Modes"
          rows={[...modes].reverse()}
          keyOf={({ fromBlock, mode: entryMode }) => `${fromBlock} ${entryMode}`}
          columns={columnsOf<EnteredMode>(MODES, {
            cells: {
              mode: (entry) => (
                <Mark tone={entry === current ? 'good' : 'calm'}>
                  {entry === current ? `${entry.mode}, in force` : entry.mode}
                </Mark>
              ),
            },
          })}
          first={5}
        />
      )}
    </div>
  )
}

const SetMode = () => (
  <ActButton
    main
    label="Set the mode"
    act="contract-wallets"
    says="It applies from the next block on. If it lets more contracts buy, it applies to waiting payments too."
    more={{
      mode: {
        choices: Object.entries(MEANS).map(([mode, means]) => [mode, `${sentenceCase(mode)}: ${means}`] as const),
      },
    }}
    danger
  />
)

const Allow = () => (
  <ActButton
    label="Allow a contract"
    act="contract-wallets/allow"
    says="It may buy in the mode “Proven”, and the service judges its waiting payments again. A contract allowed before gets the new name and reason."
    warning="Its nodes belong to it: make sure that someone can withdraw with it."
  />
)

const MODES = ['mode', 'fromBlock', 'enteredBy', 'enteredAt'] as const
const ALLOWED = columnsOf<Shape<'AllowedWallet'>>(LISTS.senders.columns, {
  decide: ({ address, label }) => (
    <ActButton
      label="Disallow"
      act="contract-wallets/{address}/disallow"
      params={{ address }}
      says={`Only the rules decide about payments from ${label} (${address}) now. Its nodes stay.`}
    />
  ),
})
