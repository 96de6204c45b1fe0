// What this browser keeps for these pages. Storage may be forbidden, full or switched off: then it holds until the page is left. Nothing else
// in these pages reads or writes storage.

/** What is kept, by name. */
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

/** Until it is removed. */
export const kept = keptIn('localStorage')
/** For the tab. */
export const keptForTab = keptIn('sessionStorage')
