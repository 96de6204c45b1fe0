// Nodes without a payment. A stolen key may have made them. So their groups get no credits until the operator has granted each node.
import { useState } from 'react'
import { Link } from 'wouter'
import { Address, Hash, Mark, Time } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ActButton } from '../act.tsx'
import { type UnpaidNode, useAdmin } from '../admin.ts'
import { Choice, PAGE, Pager, usePages } from '../pager.tsx'

export function Nodes() {
  const [open, setOpen] = useState('true')
  const { page, place } = usePages('nodes/unpaid', { open })
  return (
    <Section
      title="Nodes without a payment"
      aside={
        <Choice
          label="Which"
          value={open}
          choices={[
            ['true', 'without a grant'],
            ['false', 'all'],
          ]}
          choose={(which) => {
            setOpen(which)
            place.go(null)
          }}
        />
      }
    >
      <Shown reading={page} lines={4}>
        {({ nodes, nextCursor }) => (
          <div className="stack">
            <p className="note">
              A node without a payment may come from a stolen key: its whole group gets no credits until you grant it.
              If you did not mint it, have the contract’s owner pause the contract and change the minter’s key.
            </p>
            <Table
              caption="Nodes without a payment"
              rows={nodes}
              keyOf={({ nodeId }) => nodeId}
              columns={COLUMNS}
              first={PAGE}
              empty={<Empty title={open === 'true' ? 'No node waits for a grant.' : 'Every node was paid for.'} />}
            />
            <Pager place={place} next={nextCursor} />
          </div>
        )}
      </Shown>
    </Section>
  )
}

const COLUMNS: readonly Column<UnpaidNode>[] = [
  { heading: 'Node', cell: ({ nodeId }) => <Link href={`/node/${nodeId}`}>#{nodeId}</Link> },
  { heading: 'Owner', cell: ({ owner }) => <Address of={owner} /> },
  { heading: 'Tier', cell: ({ tierNo }) => <TierOf tierNo={tierNo} /> },
  { heading: 'Group', figure: true, cell: ({ cohort }) => cohort },
  { heading: 'Minted', cell: ({ mintedAt }) => <Time at={mintedAt} /> },
  { heading: 'Transaction', cell: ({ mintTxHash }) => <Hash of={mintTxHash} /> },
  { heading: 'Grant', cell: ({ grant }) => <Grant grant={grant} /> },
  { heading: 'Decide', cell: (node) => (node.grant ? <RevokeButton node={node} /> : <GrantButton node={node} />) },
]

function TierOf({ tierNo }: { tierNo: number | null }) {
  const tiers = useAdmin('tiers')
  if (tierNo === null) return <span className="none">none</span>
  return tiers.data?.tiers.find((tier) => tier.tierNo === tierNo)?.label ?? `number ${tierNo}`
}

function Grant({ grant }: { grant: UnpaidNode['grant'] }) {
  if (!grant) return <Mark tone="warn">none</Mark>
  return (
    <span className="whole">
      “{grant.reason}” by {grant.grantedBy}, <Time at={grant.grantedAt} />
    </span>
  )
}

function GrantButton({ node: { nodeId, owner, cohort } }: { node: UnpaidNode }) {
  return (
    <ActButton
      main
      label="Grant"
      act="nodes/{nodeId}/grant"
      params={{ nodeId }}
      says={`Confirms that node ${nodeId} of ${owner} is legitimate without a payment. Once no node of group ${cohort} waits for a grant, the group is credited again.`}
    />
  )
}

function RevokeButton({ node: { nodeId, owner, cohort } }: { node: UnpaidNode }) {
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
