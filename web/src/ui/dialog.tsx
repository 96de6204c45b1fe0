// A dialog on top of the page by Base UI: focus stays in it, Escape closes it, the page behind is inert.
import { Dialog as Base } from '@base-ui/react/dialog'
import { type ReactNode, useLayoutEffect, useRef } from 'react'

interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  children: ReactNode
}

export function Dialog({ open, onClose, title, children }: DialogProps) {
  const opener = useRef<Element | null>(null)
  // Before the dialog takes the focus.
  useLayoutEffect(() => {
    if (open) opener.current = document.activeElement
  }, [open])
  return (
    <Base.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup className="dialog" finalFocus={() => backTo(opener.current)}>
          <header>
            <Base.Title>{title}</Base.Title>
            <Base.Close className="button quiet" aria-label="Close">
              ✕
            </Base.Close>
          </header>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** The element for the focus on closing: the act may have removed the button that opened it. */
function backTo(opener: Element | null): HTMLElement | null {
  return opener instanceof HTMLElement && opener.isConnected ? opener : document.querySelector('h1')
}
