// A dialog on top of the page. It is the browser's own, so focus stays in it, Escape closes it, and the page behind is inert.
import { type PointerEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import { ui } from '../words/ui.ts'

interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  children: ReactNode
}

/** A dialog. Renders its content anew at each opening. */
export function Dialog({ open, ...rest }: DialogProps) {
  return open ? <Opened {...rest} /> : null
}

function Opened({ onClose, title, children }: Omit<DialogProps, 'open'>) {
  const place = useRef<HTMLDialogElement>(null)
  const opener = useRef<Element | null>(null)
  const titleId = useId()
  useLayoutEffect(() => {
    opener.current ??= document.activeElement
    place.current?.showModal()
  }, [])
  // Moves the focus only once the dialog is gone, because until then the page behind it cannot take the focus.
  useEffect(() => () => backTo(opener.current)?.focus(), [])
  // Placed in the body: elsewhere it would inherit styles, and its form might be inside another form.
  return createPortal(
    <dialog
      ref={place}
      className="dialog"
      aria-labelledby={titleId}
      onClose={onClose}
      onPointerDown={(event) => {
        if (isOutside(event)) onClose()
      }}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        <button type="button" className="button quiet round" aria-label={ui.dialog.close} onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>,
    document.body,
  )
}

/** True if the press is on the backdrop, which the browser counts as part of the dialog. */
function isOutside({ target, currentTarget, clientX, clientY }: PointerEvent<HTMLDialogElement>): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect()
  return target === currentTarget && (clientX < left || clientX > right || clientY < top || clientY > bottom)
}

/** The element to focus on closing. The act may have removed or disabled the button that opened the dialog; then it is another element. */
function backTo(opener: Element | null): HTMLElement | null {
  const isThere = opener instanceof HTMLElement && opener.isConnected && !opener.matches(':disabled')
  return isThere ? opener : document.querySelector('h1')
}
