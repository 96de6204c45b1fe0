// On /docs and /runbook.html. Sends the request of a route, and shows its answer below the command.
document.addEventListener('submit', async (event) => {
  const form = event.target
  event.preventDefault()
  const shown = form.nextElementSibling
  shown.hidden = false
  try {
    const response = await fetch(form.elements.path.value)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    shown.textContent = `${response.status}\n${isJson ? JSON.stringify(JSON.parse(text), null, 2) : text}`
  } catch {
    shown.textContent = 'No answer.'
  }
})

// Marks the section that is being read, beside the text.
const links = [...document.querySelectorAll('.contents a')]
const markRead = () => {
  const isAbove = ({ hash }) =>
    document.getElementById(decodeURIComponent(hash.slice(1)))?.getBoundingClientRect().top < 160
  // The last section may be too short to reach the top.
  const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2
  const read = isAtEnd ? links.at(-1) : (links.findLast(isAbove) ?? links[0])
  for (const link of links)
    if (link === read) link.setAttribute('aria-current', 'location')
    else link.removeAttribute('aria-current')
}
addEventListener('scroll', markRead, { passive: true })
markRead()
