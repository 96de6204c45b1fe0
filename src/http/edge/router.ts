// Finds the route of a request by its path. Owns how paths are read: percent signs decoded, queries split off, slashes taken as
// they are. Remembers what was found: the same few targets are asked for again and again. Methods are the pipeline's: one path has one
// route for all of them.
import findMyWay from 'find-my-way'
import type { Call, Route, Target } from '../route.ts'

/** The router keeps a tree for each method; all our routes are in this one. */
const TREE = 'GET'
/** Targets that are remembered, some hundred bytes each; forgotten all at once when there are more. */
const KNOWN_MAX = 2_000
/** Longer ones, which no page asks for twice, are not remembered. */
const KNOWN_CHARS_MAX = 128

/** The route that a target names, and its parts. Requests for the same one share it. */
export interface Found {
  readonly route: Route
  /** Numbers the route. */
  readonly bucket: number
  readonly target: Target
}

export interface Router {
  /** The route of a request target, or why there is none. */
  find(target: string): Found | 'unknownRoute' | 'badTarget'
}

/** Builds it. `paramMax`: parameters may be as long; what is longer has no route. */
export function createRouter(routes: readonly Route[], paramMax: number): Router {
  // `onBadUrl` is given, though never called, so that a path that cannot be decoded differs from one without a route.
  const paths = findMyWay({ maxParamLength: paramMax, onBadUrl: unused })
  for (const [bucket, route] of routes.entries()) paths.on(TREE, route.path, unused, { route, bucket })
  const known = new Map<string, Found>()
  return {
    find(target) {
      const before = known.get(target)
      if (before) return before
      const found = paths.find(TREE, target)
      if (found === null) return 'unknownRoute'
      if (found.store === null) return 'badTarget'
      const { route, bucket } = found.store as { route: Route; bucket: number }
      const named = {
        ...{ route, bucket },
        target: { params: Object.freeze(found.params), query: Object.freeze(found.searchParams) },
      }
      if (target.length > KNOWN_CHARS_MAX) return named
      if (known.size >= KNOWN_MAX) known.clear()
      known.set(target, named)
      return named
    },
  }
}

/** Runs `parse` once for each target that the router remembers: it may look at nothing else of a call. */
export function oncePerTarget<T extends object>(parse: (target: Target) => T): (call: Call) => T {
  const known = new WeakMap<Target, T>()
  return ({ target }) => {
    const before = known.get(target)
    if (before) return before
    const parsed = parse(target)
    known.set(target, parsed)
    return parsed
  }
}

/** We ask which route it is, and run it ourselves. */
function unused(): never {
  throw new Error('the router was asked to run a route')
}
