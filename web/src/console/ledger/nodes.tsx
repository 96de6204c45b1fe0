// Nodes without a payment. A stolen key may have made them. So their groups get no credits until the operator has granted each node.
import { Link } from 'wouter'
import { Mark, Time } from '../../ui/facts.tsx'
import { Empty } from '../../ui/states.tsx'
import { ActButton } from '../act.tsx'
import { type Shape, useAdmin } from '../admin.ts'
import { listSection } from '../list.tsx'

export const Nodes = listSection('nodes/unpaid', {
  title: 'Nodes',
  filters: [
    {
      name: 'open',
      label: 'Which',
      choices: () => [
        ['true', 'not granted'],
        ['false', 'all'],
      ],
    },
  ],
  note: (rows) => (
    <p className={rows.some(({ grant }) => !grant) ? 'notice warn' : 'note'}>
      A node without a payment may come from a stolen key, so its whole group gets no credits. If you minted it, grant
      it. If not, have the contract’s owner pause the contract and change the minter’s key.
    </p>
  ),
  leads: ['nodeId', 'grant'],
  empty: <Empty title="No node waits for a grant." />,
  hides: ['ref'],
  cells: {
    nodeId: ({ nodeId }) => <Link href={`/node/${nodeId}`}>Node {nodeId}</Link>,
    tierNo: ({ tierNo }) => <TierOf tierNo={tierNo} />,
    grant: ({ grant }) => <Grant grant={grant} />,
  },
  decide: (node) => (node.grant ? <RevokeButton node={node} /> : <GrantButton node={node} />),
})

function TierOf({ tierNo }: { tierNo: number | null }) {
  const tiers = useAdmin('tiers')
  if (tierNo === null) return <span className="none">none</span>
  return tiers.data?.tiers.find((tier) => tier.tierNo === tierNo)?.label ?? `number ${tierNo}`
}

function Grant({ grant }: { grant: Shape<'UnpaidNode'>['grant'] }) {
  if (!grant) return <Mark tone="warn">no payment</Mark>
  return (
    <span className="whole">
      “{grant.reason}” by {grant.grantedBy}, <Time at={grant.grantedAt} />
    </span>
  )
}

function GrantButton({ node: { nodeId, owner, cohort } }: { node: Shape<'UnpaidNode'> }) {
  return (
    <ActButton
      label="Grant"
      act="nodes/{nodeId}/grant"
      params={{ nodeId }}
      says={`Confirms that node ${nodeId} of ${owner} is legitimate without a payment. Once no node of group ${cohort} waits for a grant, the group is credited again.`}
    />
  )
}

function RevokeButton({ node: { nodeId, owner, cohort } }: { node: Shape<'UnpaidNode'> }) {
  return (
    <ActButton
      danger
      label="Revoke the grant"
      act="nodes/{nodeId}/revoke"
      params={{ nodeId }}
      says={`Group ${cohort}, with node ${nodeId} of ${owner}, gets no more credits until the node is granted again. Earlier credits stay.`}
    />
  )
}
