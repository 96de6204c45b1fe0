// Documents in the pages' frame: the runbook and the API's reference, as HTML made by `npm run build`. `{origin}` in them is the service's own.
import type { HttpSettings } from '../deps.ts'
import { topOf } from './first-paint.ts'
import { saleOf, withHead } from './heads.ts'

const ROOT = /<div id="root">.*?<\/div>\s*<noscript>.*?<\/noscript>/s

/** A built document as a page. It reads without a script, which only adds the search, the theme and the foot. */
export function documentPage(html: string, settings: HttpSettings, path: string, content: string): string {
  return withHead(html, settings, { path }).replace(
    ROOT,
    () =>
      `<div id="root"><div id="top">${topOf(saleOf(settings), path)}</div><main id="main" class="width document">${content.replaceAll('{origin}', settings.publicUrl)}</main><div id="bottom"></div></div>`,
  )
}
