// Finds the route of a request by its path. Owns how paths are read: percent signs decoded, queries split off, slashes taken as
// they are. Methods are the pipeline's: one path has one route for all of them.
import findMyWay from 'find-my-way'
import type { Route, Target } from '../route.ts'

/** The router keeps a tree for each method; all our routes are in this one. */
const TREE = 'GET'

/** The route that a target names, and its parts. */
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
  return {
    find(target) {
      const found = paths.find(TREE, target)
      if (found === null) return 'unknownRoute'
      if (found.store === null) return 'badTarget'
      const { route, bucket } = found.store as { route: Route; bucket: number }
      return { route, bucket, target: { params: found.params, query: found.searchParams } }
    },
  }
}

/** We ask which route it is, and run it ourselves. */
function unused(): never {
  throw new Error('the router was asked to run a route')
}
