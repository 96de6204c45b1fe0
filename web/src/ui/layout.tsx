// The frame of all pages: navigation, a notice if the service is in trouble, and links to chain and contract.
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { useDeployment, useHealth } from '../ledger.ts'
import { Address, Time } from './facts.tsx'
import { ThemeButton } from './theme.tsx'

/** Items of the navigation, each with its paths. */
const PLACES = [
  ['/', 'Overview', /^\/$/],
  ['/tiers', 'Tiers', /^\/tiers/],
  ['/rounds', 'Rounds', /^\/round/],
  ['/buy', 'Buy', /^\/buy/],
  ['/owner', 'My nodes', /^\/owner/],
] as const

export function Layout({ children }: { children: ReactNode }) {
  const [location] = useLocation()
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <div className="width">
          <Link href="/" className="brand">
            <img src="/icon.svg" alt="" width="28" height="28" />
            Node Ledger
          </Link>
          <nav aria-label="Pages">
            {PLACES.map(([path, name, here]) => (
              <Link key={path} href={path} aria-current={here.test(location) ? 'page' : undefined}>
                {name}
              </Link>
            ))}
          </nav>
          <Search />
          <ThemeButton />
        </div>
      </header>
      <Alerts />
      <main id="main" className="width">
        {children}
      </main>
      <Footer />
    </>
  )
}

/** Someone who navigates starts at the new page's heading, as after a real page load. It stands beside the page, to wait for its code, too. */
export function Arrival() {
  const [location] = useLocation()
  const first = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: at each change of place, whatever it is
  useEffect(() => {
    if (first.current) {
      first.current = false
      return
    }
    window.scrollTo(0, 0)
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
  }, [location])
  return null
}

/** An address or a node's number. What is neither goes to the address page, which says what is wrong with it. */
function Search() {
  const [, navigate] = useLocation()
  const find = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const sought = String(new FormData(form).get('sought')).trim().replace(/^#/, '')
    if (sought === '') return
    form.reset()
    navigate(/^[1-9][0-9]*$/.test(sought) ? `/node/${sought}` : `/address/${encodeURIComponent(sought)}`)
  }
  return (
    <search>
      <form onSubmit={find}>
        <input name="sought" type="search" placeholder="Address or node number" aria-label="Address or node number" />
      </form>
    </search>
  )
}

function Alerts() {
  const { data } = useHealth()
  if (!data) return null
  const alerts = [
    data.halted && 'Standing still: the chain is not the one that was followed. What is shown is as of then.',
    !data.halted && data.paused && 'Rounds are paused by the operator. Withdrawing works as always.',
    data.distEnabled &&
      data.stale &&
      !data.paused &&
      !data.halted &&
      'The worker that credits nodes has not been heard of for a while.',
    data.isSolvent === false && 'The contract holds less than it owes.',
  ].filter((alert) => typeof alert === 'string')
  if (alerts.length === 0) return null
  return (
    <div className="alerts" role="status">
      <div className="width">
        {alerts.map((alert) => (
          <p key={alert}>{alert}</p>
        ))}
        {data.lastTickAt && (
          <p className="note">
            Last round check: <Time at={data.lastTickAt} />
          </p>
        )}
      </div>
    </div>
  )
}

function Footer() {
  const { data } = useDeployment()
  return (
    <footer className="bottom">
      <div className="width">
        {data && (
          <dl>
            <div>
              <dt>Chain</dt>
              <dd>{data.embedded ? `${data.chainId}, a demonstration` : data.chainId}</dd>
            </div>
            <div>
              <dt>Contract</dt>
              <dd>
                <Address of={data.factoryAddress} link={false} />
              </dd>
            </div>
            <div>
              <dt>Payments wallet</dt>
              <dd>{data.paymentAddress === null ? 'none' : <Address of={data.paymentAddress} link={false} />}</dd>
            </div>
          </dl>
        )}
        <p>
          <a href="/docs">API</a> · <Link href="/console">Operator</Link>
        </p>
      </div>
    </footer>
  )
}
