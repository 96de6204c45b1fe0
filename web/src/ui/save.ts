// Hands a text that the page has made to the browser, as a file to be kept.

/** Saves `text` under `name`. */
export function saveFile(text: string, name: string, type: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
