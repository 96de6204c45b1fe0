// What these pages store in this browser. If storage is forbidden, full or disabled, values last until the visitor
// leaves the page. No other module of these pages reads or writes storage.

/** The stored values, by name. */
export type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

function keptIn(place: 'localStorage' | 'sessionStorage'): Kept {
  const inMemory = new Map<string, string>()
  const attempt = <T>(act: (storage: Storage) => T): T | null => {
    try {
      return act(window[place])
    } catch {
      return null
    }
  }
  return {
    getItem: (name) => inMemory.get(name) ?? attempt((storage) => storage.getItem(name)),
    setItem: (name, value) => {
      inMemory.set(name, value)
      attempt((storage) => {
        storage.setItem(name, value)
        inMemory.delete(name)
      })
    },
    removeItem: (name) => {
      inMemory.delete(name)
      attempt((storage) => storage.removeItem(name))
    },
  }
}

/** Stored until removed. */
export const kept = keptIn('localStorage')
/** Stored for the tab. */
export const keptForTab = keptIn('sessionStorage')
