// Before anything is painted: the theme that was chosen here, if one was.
try {
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') {
    document.documentElement.dataset.theme = theme
    for (const meta of document.querySelectorAll('meta[name="theme-color"]'))
      meta.content = theme === 'dark' ? '#0c0e14' : '#f6f7fa'
  }
} catch {
  // Storage may be forbidden; the system's theme applies then.
}

// A script or style may be gone, with the release that it belonged to. Then the page is loaded anew, once in a minute, if the service is there. The
// history remembers it, which needs no storage.
const reloadOnce = async () => {
  if (Date.now() - (history.state?.reloadedAt ?? 0) < 60_000) return
  const { ok } = await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).catch(() => ({ ok: false }))
  if (!ok) return
  history.replaceState({ ...history.state, reloadedAt: Date.now() }, '')
  location.reload()
}
addEventListener('part-missing', reloadOnce)
addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLScriptElement || target?.rel === 'stylesheet') reloadOnce()
  },
  true,
)
