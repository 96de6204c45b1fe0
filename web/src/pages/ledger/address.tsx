// Any wallet: its nodes and their total.
import type { Node } from '@node-ledger/client'
import { Link, useParams } from 'wouter'
import { ADDRESS, checksummed, figure, short } from '../../format.ts'
import { useNodesOf } from '../../live.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { InExplorer } from '../../ui/explorer.tsx'
import { Amount, Turn, Whole } from '../../ui/facts.tsx'
import { Page, Section, Summary } from '../../ui/page.tsx'
import { Empty, Shown } from '../../ui/states.tsx'
import { words } from '../../words/ledger.ts'
import { fill } from '../../words/message.ts'
import { ui } from '../../words/ui.ts'
import { HowItWorks } from '../checkout/tiers.tsx'
import { PaymentsOf } from '../payment/payments.tsx'
import { NodesTable, nextCredit, sumOf, ToWithdraw } from './nodes.tsx'

const t = words.wallet

export function AddressPage() {
  const { address } = useParams<{ address: string }>()
  const nodes = useNodesOf(address.toLowerCase())
  return (
    <Page
      title={fill(t.title, { address: short(checksummed(address)) })}
      lead={
        <>
          {ADDRESS.test(address) ? (
            <InExplorer kind="address" id={address}>
              <Whole of={checksummed(address)} />
            </InExplorer>
          ) : (
            <Whole of={address} />
          )}{' '}
          <CopyButton text={checksummed(address)} what={ui.copy.address} />
        </>
      }
    >
      <Shown reading={nodes} shape="tiles">
        {(all) => (all.length > 0 ? <Nodes nodes={all} /> : <NoNodes />)}
      </Shown>
      <PaymentsOf address={address.toLowerCase()} />
    </Page>
  )
}

function NoNodes() {
  return (
    <>
      <Empty title={t.noNode}>
        <Link href="/buy" className="button main">
          {words.overview.buy}
        </Link>
      </Empty>
      <HowItWorks />
    </>
  )
}

function Nodes({ nodes }: { nodes: readonly Node[] }) {
  const next = nextCredit(nodes)
  const balanceWei = sumOf(nodes, 'balanceWei')
  return (
    <>
      <Summary
        name={words.figures.balance}
        act={balanceWei > 0n && <ToWithdraw />}
        of={{
          [t.nodes]: figure(nodes.length),
          [words.figures.credited]: <Amount wei={sumOf(nodes, 'creditedWei')} />,
          [words.figures.withdrawn]: <Amount wei={sumOf(nodes, 'withdrawnWei')} />,
          [t.nextCredit]: next ? <Turn at={next} /> : words.node.notScheduled,
        }}
      >
        <Amount wei={balanceWei} />
      </Summary>
      <Section title={fill(words.nodes, { n: nodes.length })}>
        <NodesTable nodes={nodes} />
      </Section>
    </>
  )
}
