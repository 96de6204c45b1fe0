// Keeps the focus near a control that goes. If a pressed button vanishes or is disabled, the browser drops the focus to the body, and a keyboard
// user starts again from the top. Then the part around it takes the focus, and returns it once the control is enabled again.

/** Parts that can take the focus for a control inside them. */
const PARTS = '[tabindex="-1"], section, dialog, form, fieldset, li, main'

const isUsable = (control: Element) => control.isConnected && !control.matches(':disabled')

/** Call it once. */
export function keepFocus(): void {
  /** The control with the focus, and the parts around it, the closest first. */
  let control: HTMLElement | null = null
  let around: readonly HTMLElement[] = []
  /** The part that has the focus in place of a disabled control. */
  let standIn: { part: HTMLElement; for: HTMLElement } | null = null

  document.addEventListener('focusin', ({ target }) => {
    if (target !== standIn?.part) standIn = null
    control = target instanceof HTMLElement ? target : null
    around = partsAround(control)
  })
  document.addEventListener('focusout', ({ target }) => {
    // If the control is still there afterwards, the user has left it.
    queueMicrotask(() => {
      if (target === control && control && isUsable(control) && document.activeElement === document.body) control = null
    })
  })
  new MutationObserver(() => {
    const { activeElement } = document
    if (standIn && activeElement === standIn.part && isUsable(standIn.for)) return standIn.for.focus()
    if (!control || isUsable(control) || (activeElement !== document.body && activeElement !== control)) return
    const part = around.find((one) => one.isConnected) ?? document.querySelector<HTMLElement>('h1')
    if (!part) return
    standIn = control.isConnected ? { part, for: control } : null
    if (!part.hasAttribute('tabindex')) part.tabIndex = -1
    part.focus({ preventScroll: true })
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] })
}

function partsAround(control: HTMLElement | null): readonly HTMLElement[] {
  const parts: HTMLElement[] = []
  for (let part = control?.parentElement?.closest<HTMLElement>(PARTS); part; part = part.parentElement?.closest(PARTS))
    parts.push(part)
  return parts
}
