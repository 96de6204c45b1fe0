// What the button shows: built once, without markup from strings, so that a page's content policy has nothing to refuse.
import { STYLE } from './style.ts'
import type { FoundWallet } from './wallets.ts'

/** What is shown; what is left out is not there. */
export interface View {
  /** The button's text. */
  button: string
  /** Left out: it cannot be pressed. */
  press?: (() => void) | undefined
  says?: readonly string[]
  /** Wallets to choose from. */
  wallets?: readonly FoundWallet[]
  choose?: (wallet: FoundWallet) => void
  /** Something that the buyer has to agree to before the button can be pressed. */
  agreement?: string
  link?: { href: string; text: string } | undefined
}

export interface Panel {
  show(view: View): void
  /** Shows a page of the service in a frame instead. */
  frame(href: string, title: string): void
}

/** Builds it in a shadow root. */
export function createPanel(root: ShadowRoot): Panel {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(STYLE)
  root.adoptedStyleSheets = [sheet]
  const button = make('button', 'button', { type: 'button', className: 'pay' })
  const panel = make('div', 'panel', { className: 'panel' })
  const status = make('div', 'status')
  status.setAttribute('role', 'status')
  status.append(panel)
  let press: (() => void) | undefined
  button.addEventListener('click', () => press?.())

  return {
    show(view) {
      press = view.press
      button.textContent = view.button
      button.disabled = press === undefined || view.agreement !== undefined
      panel.replaceChildren(
        ...partsOf(view, (agreed) => {
          button.disabled = !agreed
        }),
      )
      panel.hidden = panel.childElementCount === 0
      if (button.parentNode !== root) root.replaceChildren(button, status)
    },
    frame(href, title) {
      const frame = make('iframe', 'frame', { src: href, title })
      root.replaceChildren(frame)
    },
  }
}

function partsOf({ says = [], wallets = [], choose, agreement, link }: View, agree: (agreed: boolean) => void): Node[] {
  const parts: Node[] = says.map((text) => make('p', 'text', { textContent: text }))
  if (wallets.length > 0) {
    const list = make('ul', 'wallets')
    list.append(...wallets.map((wallet) => choiceOf(wallet, () => choose?.(wallet))))
    parts.push(list)
  }
  if (agreement !== undefined) {
    const label = make('label', 'agree')
    const box = make('input', 'agree-box', { type: 'checkbox' })
    box.addEventListener('change', () => agree(box.checked))
    label.append(box, make('span', 'agree-text', { textContent: agreement }))
    parts.push(label)
  }
  if (link) {
    const line = make('p', 'links')
    line.append(make('a', 'link', { href: link.href, textContent: link.text, target: '_blank', rel: 'noopener' }))
    parts.push(line)
  }
  return parts
}

function choiceOf({ info }: FoundWallet, choose: () => void): Node {
  const item = make('li', 'item')
  const button = make('button', 'wallet', { type: 'button', className: 'quiet' })
  button.addEventListener('click', choose)
  // An icon is an image within the announcement (EIP-6963): nothing is loaded for it.
  if (/^data:image\//.test(info.icon)) button.append(make('img', 'icon', { src: info.icon, alt: '' }))
  button.append(info.name)
  item.append(button)
  return item
}

/** An element with the name by which a page styles it. */
function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  part: string,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties)
  element.setAttribute('part', part)
  return element
}
