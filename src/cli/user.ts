// The name of who runs this program, for the audit log and for keys that are made for them.
import { userInfo } from 'node:os'

/** The user's name; empty where there is none: a container may run under a number alone. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return ''
  }
}
