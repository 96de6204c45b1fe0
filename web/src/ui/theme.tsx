// Light, dark, or the system's theme, stored in this browser. public/theme.js applies it before the first paint.
import { useState } from 'react'
import { kept } from '../kept.ts'
import { fill } from '../words/message.ts'
import { ui } from '../words/ui.ts'

type Theme = 'system' | 'light' | 'dark'
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }
/** Half a disc, a sun, a moon. */
const SIGN: Record<Theme, string> = {
  system: 'M8 2a6 6 0 0 0 0 12zM8 2a6 6 0 0 1 0 12a6 6 0 0 0 0-12',
  light:
    'M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM8 1v1M8 14v1M1 8h1M14 8h1M3 3l.8.8M12.2 12.2l.8.8M3 13l.8-.8M12.2 3.8l.8-.8',
  dark: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z',
}

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
    <button type="button" className="button quiet round theme" onClick={choose} aria-label={label} title={label}>
      <svg className={theme} viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
        <path d={SIGN[theme]} />
      </svg>
    </button>
  )
}
