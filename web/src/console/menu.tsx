// Buttons that are seldom pressed, behind one.
import { type FocusEvent, type ReactNode, useState } from 'react'

/** A button that shows others, until the focus leaves them. */
export function Menu({ label, children }: { label: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  const leave = ({ currentTarget, relatedTarget }: FocusEvent) => {
    // A dialog returns the focus to the button that opened it, so that has to stay.
    const isInside = currentTarget.contains(relatedTarget) || relatedTarget?.closest('dialog')
    if (!isInside) setOpen(false)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its buttons are the elements to press; it only hears when the focus leaves them
    <div
      className="menu-of"
      // Safari focuses no button at a press, but this.
      tabIndex={-1}
      onBlur={leave}
      onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
    >
      <button
        type="button"
        className="button quiet"
        aria-expanded={isOpen}
        aria-label={label}
        title={label}
        onClick={() => setOpen(!isOpen)}
      >
        ⋯
      </button>
      {isOpen && <div className="card menu-items">{children}</div>}
    </div>
  )
}
