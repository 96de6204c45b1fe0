// Compares what two chains showed.

/** The path and kind of the first difference of two values; null if they are equal. */
export function difference(real: unknown, model: unknown, path = ''): string | null {
  if (typeof real !== 'object' || typeof model !== 'object' || real === null || model === null)
    return real === model ? null : `${path}: the chain says ${String(real)}, the model ${String(model)}`
  const keys = new Set([...Object.keys(real), ...Object.keys(model)])
  for (const key of keys) {
    const found = difference((real as never)[key], (model as never)[key], `${path}/${key}`)
    if (found) return found
  }
  return null
}
