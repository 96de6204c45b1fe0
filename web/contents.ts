// The frame of a document: each heading as a target, and the second ones listed beside the text.

const anchorOf = (heading: string) =>
  heading
    .replaceAll(/<[^>]+>/g, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-')

/** The text with an id in each heading that has none. */
export const anchored = (html: string): string =>
  html.replaceAll(/<(h[1-4])>(.*?)<\/\1>/g, (_, tag, words) => `<${tag} id="${anchorOf(words)}">${words}</${tag}>`)

/** A document: its style, its head, its contents and its text. */
export function framed(head: string, text: string): string {
  const entries = [...text.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)]
  const links = entries.map(([, id, words]) => `<li><a href="#${id}">${words}</a></li>`)
  return `<link rel="stylesheet" href="/document.css"><div class="page-head">${head}</div><nav class="contents" aria-label="On this page"><ul>${links.join('')}</ul></nav><div class="text">${text}</div><script src="/document.js" defer></script>`
}
