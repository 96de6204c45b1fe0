// The second person: the amount above which an act needs a second person, and the acts that wait.
import { Mark } from '../../ui/facts.tsx'
import { Empty } from '../../ui/states.tsx'
import { ActButton } from '../act.tsx'
import { ownKey, type Shape, useAdmin } from '../admin.ts'
import { etherAndWei } from '../amounts.ts'
import { listSection } from '../list.tsx'
import { SafeFile } from '../safe-file.tsx'

export const Proposals = listSection('proposals', {
  title: 'Approvals',
  aside: () => <SetRule />,
  note: (rows) => <Rule isAlone={rows.length === 0} />,
  empty: <NoneWaits />,
  tones: { open: 'warn' },
  hides: ['settledBy', 'refusal', 'makerEnded'],
  cells: {
    act: ({ act }) => <code translate="no">{act}</code>,
    proposedBy: ({ proposedBy, makerEnded }) => (
      <>
        {proposedBy} {makerEnded && <Mark tone="bad">key has ended</Mark>}
      </>
    ),
  },
  decide: ({ state, settledBy, refusal, ...proposal }) =>
    state === 'open' ? (
      <Answer proposal={proposal} />
    ) : (
      <span className="whole">
        {settledBy && `by ${settledBy}`} {refusal}
      </span>
    ),
})

/** What needs a second person. Without a rule and without rows, the empty list says it. */
function Rule({ isAlone }: { isAlone: boolean }) {
  const { data } = useAdmin('second-person')
  if (!data || (isAlone && data.aboveWei === null)) return null
  return (
    <p className="note">
      {data.aboveWei === null
        ? OFF
        : `A release or refund of more than ${etherAndWei(data.aboveWei)} needs a second person; credit terms and the payments wallet always do.`}
    </p>
  )
}

const OFF = 'No action needs a second person now.'

function NoneWaits() {
  const { data } = useAdmin('second-person')
  if (data?.aboveWei !== null) return <Empty title="Nothing waits for a second person." />
  return <Empty title={OFF}>You can require one for releases and refunds above an amount.</Empty>
}

function SetRule() {
  const { data } = useAdmin('second-person')
  return (
    <div className="buttons">
      <ActButton
        label={data && data.aboveWei !== null ? 'Change the amount' : 'Require a second person'}
        act="second-person"
        says="Releases and refunds above it become proposals, which another person confirms. Raising it takes a second person, too."
        fields={['aboveWei']}
        more={{ aboveWei: { required: true } }}
      />
      {data && data.aboveWei !== null && (
        <ActButton
          label="Switch the rule off"
          act="second-person"
          body={{ off: true }}
          fields={[]}
          says="This takes a second person. Open proposals stay open."
          danger
        />
      )}
    </div>
  )
}

const isFile = (value: unknown): value is object => typeof value === 'object' && value !== null

function Answer({
  proposal: { id, act, proposedBy, makerEnded },
}: {
  proposal: Omit<Shape<'Proposal'>, 'state' | 'settledBy' | 'refusal'>
}) {
  const params = { id: String(id) }
  return (
    <div className="buttons">
      {ownKey()?.label !== proposedBy && !makerEnded && (
        <ActButton
          main
          label="Confirm"
          act="proposals/{id}/confirm"
          params={params}
          says={`Does ${act} now, as ${proposedBy} proposed it, if that is still possible. The audit log shows both names.`}
          did={({ says, done: { safeBatch, safeBatches } }) => (
            <div className="stack">
              <p>{says}</p>
              {[safeBatch, safeBatches]
                .flat()
                .filter(isFile)
                .map((file, place) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
                  <SafeFile key={place} safeBatch={file} name={`${act}-safe-${place + 1}.json`} />
                ))}
            </div>
          )}
        />
      )}
      <ActButton label="Refuse" act="proposals/{id}/refuse" params={params} says="The action is not done." danger />
    </div>
  )
}
