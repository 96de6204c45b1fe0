// Hands a text or blob of the page to the browser, to save as a file.

/** Saves `text` under `name`. */
export const saveFile = (text: string, name: string, type: string): void => saveBlob(new Blob([text], { type }), name)

/** Saves `blob` under `name`. */
export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
