// Applies the theme that the visitor chose in this browser, if any. It stands below the first paint, which must not wait
// for it; a visitor who chose a theme has it in the cache.
try {
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') {
    document.documentElement.dataset.theme = theme
    for (const meta of document.querySelectorAll('meta[name="theme-color"]'))
      meta.content = theme === 'dark' ? '#0c0e14' : '#f6f7fa'
  }
} catch {
  // If storage is forbidden, the system's theme applies.
}

// A new release may have removed a script of this page. Then we reload the page, at most once a minute, if the
// service answers within some seconds; one that restarts does. The history state remembers the reload, because that
// needs no storage.
const reloadOnce = async () => {
  if (Date.now() - (history.state?.reloadedAt ?? 0) < 60_000) return
  for (const pauseMs of [0, 1_000, 3_000]) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    const { ok } = await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).catch(() => ({ ok: false }))
    if (!ok) continue
    history.replaceState({ ...history.state, reloadedAt: Date.now() }, '')
    return location.reload()
  }
}
addEventListener('part-missing', reloadOnce)
addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLScriptElement) reloadOnce()
  },
  true,
)
