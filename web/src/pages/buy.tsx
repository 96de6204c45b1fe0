// Choosing what to buy. The checkout itself is checkout.tsx.
import { useParams } from 'wouter'
import { useTiers } from '../ledger.ts'
import { Page } from '../ui/page.tsx'
import { Empty, Shown } from '../ui/states.tsx'
import { WalletArea } from '../wallet/area.tsx'
import { Checkout } from './checkout.tsx'
import { Claim } from './claim.tsx'
import { TierCards } from './tiers.tsx'

export function Buy() {
  const { tier: id } = useParams<{ tier?: string }>()
  const tiers = useTiers()
  if (id === undefined) {
    return (
      <Page
        title="Buy a node"
        lead="Choose a tier. You pay by one plain transfer; the node comes to the wallet you pay from."
      >
        <Shown reading={tiers} shape="cards">
          {(all) => <TierCards tiers={all.filter(({ onSale }) => onSale)} />}
        </Shown>
        <Claim />
      </Page>
    )
  }
  return (
    <Shown reading={tiers}>
      {(all) => {
        const tier = all.find((candidate) => candidate.id === id)
        if (!tier)
          return (
            <Page title="Buy a node">
              <Empty title="There is no such tier." />
              <TierCards tiers={all.filter(({ onSale }) => onSale)} />
            </Page>
          )
        return (
          <WalletArea>
            <Checkout key={id} tier={tier} />
          </WalletArea>
        )
      }}
    </Shown>
  )
}
