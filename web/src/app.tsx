// Maps paths to pages. Parts that only some pages need (wallets, plots, the console) are loaded with those.
import { type ComponentType, lazy, Suspense } from 'react'
import { Route, Switch } from 'wouter'
import { AddressPage } from './pages/address.tsx'
import { NodePage } from './pages/node.tsx'
import { NotFound } from './pages/not-found.tsx'
import { Overview } from './pages/overview.tsx'
import { Round } from './pages/round.tsx'
import { Rounds } from './pages/rounds.tsx'
import { Tiers } from './pages/tiers.tsx'
import { Arrival, Layout } from './ui/layout.tsx'
import { Waiting } from './ui/states.tsx'

const page = <Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) =>
  lazy(async () => ({ default: (await load())[name] }))

const Buy = page(() => import('./pages/buy.tsx'), 'Buy')
const Owner = page(() => import('./pages/owner.tsx'), 'Owner')

const Console = page(() => import('./console/console.tsx'), 'Console')

export function App() {
  return (
    <Layout>
      <Suspense fallback={<Waiting lines={6} />}>
        <Arrival />
        <Switch>
          <Route path="/" component={Overview} />
          <Route path="/tiers" component={Tiers} />
          <Route path="/rounds" component={Rounds} />
          <Route path="/round/:id" component={Round} />
          <Route path="/node/:id" component={NodePage} />
          <Route path="/address/:address" component={AddressPage} />
          <Route path="/buy/:tier?" component={Buy} />
          <Route path="/owner" component={Owner} />
          <Route path="/console/:section?" component={Console} />
          <Route component={NotFound} />
        </Switch>
      </Suspense>
    </Layout>
  )
}
