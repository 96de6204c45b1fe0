// Maps paths to pages. Parts that only some pages need (wallets, plots, the console) load with those pages.
import { Suspense } from 'react'
import { Route, Switch, useLocation } from 'wouter'
import { Buy } from './pages/checkout/buy.tsx'
import { Overview } from './pages/ledger/overview.tsx'
import { NotFound } from './pages/not-found.tsx'
import { Boundary, later } from './ui/boundary.tsx'
import { Arrival, Layout } from './ui/layout.tsx'
import { Waiting } from './ui/states.tsx'

const AddressPage = later(async () => (await import('./pages/ledger/address.tsx')).AddressPage)
const PaymentPage = later(async () => (await import('./pages/payment/payment.tsx')).PaymentPage)
const NodePage = later(async () => (await import('./pages/ledger/node.tsx')).NodePage)
const Rounds = later(async () => (await import('./pages/ledger/rounds.tsx')).Rounds)
const Round = later(async () => (await import('./pages/ledger/round.tsx')).Round)
const Owner = later(async () => (await import('./pages/owner/owner.tsx')).Owner)
const Console = later(async () => (await import('./console/console.tsx')).Console)

export function App() {
  const [location] = useLocation()
  return (
    <Layout>
      <Suspense fallback={<Waiting lines={6} />}>
        <Arrival />
        <Boundary at={location}>
          <Switch>
            <Route path="/" component={Overview} />
            <Route path="/tiers" component={Buy} />
            <Route path="/rounds" component={Rounds} />
            <Route path="/round/:id" component={Round} />
            <Route path="/node/:id" component={NodePage} />
            <Route path="/address/:address" component={AddressPage} />
            <Route path="/payment/:hash" component={PaymentPage} />
            <Route path="/buy/:tier?" component={Buy} />
            <Route path="/owner" component={Owner} />
            <Route path="/console/:section?/:item?" component={Console} />
            <Route component={NotFound} />
          </Switch>
        </Boundary>
      </Suspense>
    </Layout>
  )
}
