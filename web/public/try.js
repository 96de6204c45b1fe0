// On /docs: sends the request of a route, and shows its answer below the command.
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
