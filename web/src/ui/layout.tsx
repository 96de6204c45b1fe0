// The frame of all pages: navigation, a notice if the service is in trouble, and links to chain and contract.
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { Link, useLocation } from 'wouter'
import { useDeployment, useHealth } from '../ledger.ts'
import { useSite } from '../site.ts'
import { fill, rich } from '../words/message.ts'
import { ui } from '../words/ui.ts'
import { Boundary } from './boundary.tsx'
import { OutLink } from './explorer.tsx'
import { Address, Time } from './facts.tsx'
import { Lens, Search } from './search.tsx'

/** Items of the navigation, each with its paths. */
const PLACES = [
  ['/', 'overview', /^\/$/],
  ['/buy', 'buy', /^\/(buy|tiers)/],
  ['/rounds', 'rounds', /^\/round/],
  ['/owner', 'owner', /^\/owner/],
] as const

/** The operator's pages, which have a header of their own. */
const CONSOLE = /^\/console/

export function Layout({ children }: { children: ReactNode }) {
  return (
    <>
      <Top />
      <main id="main" className="width">
        {children}
      </main>
      <Bottom />
    </>
  )
}

/** Above the page's content. */
export function Top() {
  const [location] = useLocation()
  // On a phone, a button opens the search; on a desktop it is always there.
  const [finds, setFinds] = useState(false)
  const isConsole = CONSOLE.test(location)
  return (
    <>
      <a className="skip" href="#main">
        {ui.page.skip}
      </a>
      <header className={`top${finds ? ' finds' : ''}${isConsole ? ' own' : ''}`}>
        <div className="width">
          <Brand />
          {isConsole ? <ConsoleTop /> : <Places location={location} />}
          {!isConsole && (
            <button
              type="button"
              className="button quiet round find"
              aria-expanded={finds}
              aria-controls="search"
              aria-label={ui.search.open}
              onClick={() => setFinds(!finds)}
            >
              <Lens size={18} />
            </button>
          )}
        </div>
      </header>
    </>
  )
}

function Places({ location }: { location: string }) {
  return (
    <>
      <nav aria-label={ui.page.pages}>
        {PLACES.map(([path, name, here]) => (
          <Link key={path} href={path} aria-current={here.test(location) ? 'page' : undefined}>
            {ui.page[name]}
          </Link>
        ))}
      </nav>
      <Boundary>
        <Search />
      </Boundary>
    </>
  )
}

/** The console's name and chain. The console adds whose key is in use. */
function ConsoleTop() {
  const { chain } = useSite()
  return (
    <>
      <span className="note">{ui.page.console}</span>
      <span className="mark calm">{chain}</span>
      <div id="whose" className="whose" />
    </>
  )
}

/** Puts children into the console's header. */
export function InConsoleTop({ children }: { children: ReactNode }) {
  const place = document.getElementById('whose')
  return place && createPortal(children, place)
}

/** Below the page's content. */
export function Bottom() {
  const [location] = useLocation()
  return (
    <>
      <Boundary>
        <Alerts />
      </Boundary>
      {!CONSOLE.test(location) && (
        <Boundary>
          <Footer />
        </Boundary>
      )}
    </>
  )
}

/** The sale's name. Its colour is in the page's own style. */
function Brand() {
  const { name, logoUrl } = useSite()
  return (
    <Link href="/" className="brand">
      <img src={logoUrl} alt="" width="28" height="28" />
      <span>{name}</span>
    </Link>
  )
}

/**
 * Moves focus to the new page's heading on navigation, as a page load would. Rendered beside the page, so that it runs once the page's code is there.
 */
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

/** Stays at the bottom of the window, so that nothing moves when it comes. */
function Alerts() {
  const { data } = useHealth()
  if (!data) return null
  const alerts = [
    data.halted && ui.alerts.halted,
    !data.halted && data.stuck && fill(ui.alerts.stuck, { block: data.stuck.block }),
    !data.halted && data.paused && ui.alerts.paused,
    data.distEnabled && data.stale && !data.paused && !data.halted && ui.alerts.stale,
    data.isSolvent === false && ui.alerts.short,
  ].filter((alert) => typeof alert === 'string')
  if (alerts.length === 0) return null
  return (
    <div className="alerts" role="status">
      <div className="width">
        {alerts.map((alert) => (
          <p key={alert}>{alert}</p>
        ))}
        {data.lastTickAt && (
          <p className="note">{rich(ui.alerts.lastCheck, { time: <Time at={data.lastTickAt} /> })}</p>
        )}
      </div>
    </div>
  )
}

function Footer() {
  const { data } = useDeployment()
  const { chain, contact, termsUrl } = useSite()
  return (
    <footer className="bottom">
      <div className="width">
        {data && (
          <dl>
            <div>
              <dt>{ui.page.network}</dt>
              <dd>{data.embedded ? fill(ui.page.demonstration, { chain: chain ?? '' }) : chain}</dd>
            </div>
            <div>
              <dt>{ui.page.contract}</dt>
              <dd>
                <Address of={data.factoryAddress} link={false} />
              </dd>
            </div>
            <div>
              <dt>{ui.page.paymentsWallet}</dt>
              <dd>{data.paymentAddress === null ? ui.page.none : <Address of={data.paymentAddress} link={false} />}</dd>
            </div>
          </dl>
        )}
        <ul>
          {contact && (
            <li>
              {contact.startsWith('mailto:') ? (
                <a href={contact}>{ui.page.contact}</a>
              ) : (
                <OutLink href={contact}>{ui.page.contact}</OutLink>
              )}
            </li>
          )}
          {termsUrl && (
            <li>
              <OutLink href={termsUrl}>{ui.page.terms}</OutLink>
            </li>
          )}
          <li>
            <a href="/withdraw.html">{ui.page.withdraw}</a>
          </li>
          <li>
            <a href="/docs">{ui.page.api}</a>
          </li>
          <li>
            {/* A full page load, because a frame may show this page, but never the console. */}
            <a href="/console">{ui.page.operator}</a>
          </li>
        </ul>
      </div>
    </footer>
  )
}
