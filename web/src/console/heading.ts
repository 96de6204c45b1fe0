// The heading of the console's page, if the section shows one thing alone: "Payment 5" in place of "Payments".
import { createContext, useContext, useEffect } from 'react'

/** Sets the heading; null restores the section's own. */
export const SetHeading = createContext((_: string | null): void => undefined)

/** Gives the page this heading while the caller is shown. */
export function useHeading(heading: string): void {
  const set = useContext(SetHeading)
  useEffect(() => {
    set(heading)
    return () => set(null)
  }, [heading, set])
}
