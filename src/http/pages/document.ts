// Documents in the pages' frame: the runbook and the API's reference, as HTML made by `npm run build`. `{origin}` in them is the service's own.
import type { HttpSettings } from '../deps.ts'
import { topOf } from './first-paint.ts'
import { saleOf, withHead } from './heads.ts'

const ROOT = /<div id="root">.*?<\/div>\s*<noscript>.*?<\/noscript>/s
const SCRIPT = /<script type="module".*?<\/script>/s

/** A built document as a page. */
export function documentPage(built: string, settings: HttpSettings, path: string, content: string): string {
  const page = withHead(built, settings, { path }).replace(SCRIPT, '')
  return page.replace(
    ROOT,
    () =>
      `${topOf(saleOf(settings), path)}<main id="main" class="width document">${content.replaceAll('{origin}', settings.publicUrl)}</main>`,
  )
}
