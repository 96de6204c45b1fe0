// The page for unknown paths, in the style of the other pages: one file without a script.
import type { HttpSettings } from '../deps.ts'
import { styleSource, withAccent } from './accent.ts'
import { escaped } from './first-paint.ts'
import { saleOf } from './heads.ts'

/** A short version of web/src/styles. */
const STYLE = `:root{color-scheme:light dark}
*{box-sizing:border-box}
body{margin:0;min-height:100dvh;display:flex;flex-direction:column;background:light-dark(#f6f7fa,#0c0e14);color:light-dark(#141824,#e9ecf4);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
header,main{width:min(72rem,100% - 2rem);margin-inline:auto}
header{display:flex;align-items:center;min-height:4rem}
header a{display:inline-flex;align-items:center;gap:.5rem;color:inherit;font-weight:700;text-decoration:none}
main{padding-block:2rem}
h1{margin:0 0 .25rem;font-size:clamp(1.6rem,1.2rem + 1.6vw,2.1rem);line-height:1.2;letter-spacing:-.02em}
p{margin:0;max-width:62ch;color:light-dark(#555d72,#a0a9bd)}
ul{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.25rem 0 0;padding:0;list-style:none}
li a{display:inline-block;padding:.5rem 1rem;border:1px solid light-dark(#dfe3ec,#272d3b);border-radius:9px;background:light-dark(#fff,#1c212d);color:inherit;font-weight:600;text-decoration:none}
li:nth-child(2) a{border-color:transparent;background:var(--brand-ground,light-dark(#4338ca,#4f46e5));color:var(--brand-on,#fff)}
a:focus-visible{outline:2px solid light-dark(var(--brand-light,#4338ca),var(--brand-dark,#a5b4fc));outline-offset:2px}`

/** The page and its policy, which allows only the page's own style and the logo. */
export function notFoundPage(settings: Pick<HttpSettings, 'site'>): { html: string; policy: string } {
  const { name, logoUrl, color } = saleOf(settings)
  const title = escaped(name)
  const html = withAccent(PAGE, color)
    .replaceAll('<!--sale-->', () => title)
    .replaceAll('<!--logo-->', logoUrl)
  const policy = `default-src 'none'; style-src ${styleSource(html)}; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  return { html, policy }
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Not found · <!--sale--></title>
<link rel="icon" href="<!--logo-->" type="image/svg+xml">
<style>${STYLE}</style>
</head>
<body>
<header><a href="/"><img src="<!--logo-->" alt="" width="28" height="28"><!--sale--></a></header>
<main>
<h1>There is no such page</h1>
<p>The address may be mistyped, or the page may have moved.</p>
<ul><li><a href="/">Overview</a></li><li><a href="/buy">Buy a node</a></li><li><a href="/owner">My nodes</a></li></ul>
</main>
</body>
</html>
`
