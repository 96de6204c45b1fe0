// What this browser stores for these pages. If storage is forbidden, full or switched off, values last until the
// visitor leaves the page. Nothing else in these pages reads or writes storage.

/** The stored values, by name. */
export type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

function keptIn(place: 'localStorage' | 'sessionStorage'): Kept {
  const unstored = new Map<string, string>()
  const attempt = <T>(act: (storage: Storage) => T): T | null => {
    try {
      return act(window[place])
    } catch {
      return null
    }
  }
  return {
    getItem: (name) => unstored.get(name) ?? attempt((storage) => storage.getItem(name)),
    setItem: (name, value) => {
      unstored.set(name, value)
      attempt((storage) => {
        storage.setItem(name, value)
        unstored.delete(name)
      })
    },
    removeItem: (name) => {
      unstored.delete(name)
      attempt((storage) => storage.removeItem(name))
    },
  }
}

/** Until removed. */
export const kept = keptIn('localStorage')
/** For the tab. */
export const keptForTab = keptIn('sessionStorage')
