// Light, dark, or the system's theme, stored in this browser. public/theme.js applies it before the first paint.
import { useState } from 'react'
import { kept } from '../kept.ts'
import { fill } from '../words/message.ts'
import { ui } from '../words/ui.ts'

type Theme = 'system' | 'light' | 'dark'
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }
const SIGN: Record<Theme, string> = { system: '◐', light: '☀', dark: '☾' }

/** The background of each theme, as in tokens.css. */
const GROUND = { light: '#f6f7fa', dark: '#0c0e14' }

/** Sets the colour of the browser's own interface to a theme's background. */
function paintFrame(theme: Theme): void {
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const own = meta.media.includes('dark') ? 'dark' : 'light'
    meta.content = GROUND[theme === 'system' ? own : theme]
  }
}

export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(
    () => (document.documentElement.dataset.theme as Theme | undefined) ?? 'system',
  )
  const choose = () => {
    const next = NEXT[theme]
    if (next === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
    paintFrame(next)
    kept.setItem('theme', next)
    setTheme(next)
  }
  const label = fill(ui.theme.label, { theme: ui.theme[theme] })
  return (
    <button type="button" className="button quiet round" onClick={choose} aria-label={label} title={label}>
      <span aria-hidden="true">{SIGN[theme]}</span>
    </button>
  )
}
