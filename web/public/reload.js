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
