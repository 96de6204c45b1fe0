// Light, dark, or as the system has it; kept in this browser. public/theme.js applies it before the first paint.
import { useState } from 'react'

type Theme = 'system' | 'light' | 'dark'
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }
const SIGN: Record<Theme, string> = { system: '◐', light: '☀', dark: '☾' }

export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(
    () => (document.documentElement.dataset.theme as Theme | undefined) ?? 'system',
  )
  const choose = () => {
    const next = NEXT[theme]
    if (next === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
    try {
      localStorage.setItem('theme', next)
    } catch {
      // Storage may be forbidden; the choice holds until the page is left.
    }
    setTheme(next)
  }
  return (
    <button
      type="button"
      className="button quiet round"
      onClick={choose}
      aria-label={`Theme: ${theme}`}
      title={`Theme: ${theme}`}
    >
      <span aria-hidden="true">{SIGN[theme]}</span>
    </button>
  )
}
