// Finds the route of a request by its path. Owns how paths are read: percent-encoding is decoded, the query is split off, and slashes are
// significant. A path has one route for all its methods; the pipeline checks the method.
import findMyWay from 'find-my-way'
import type { Route, Target } from '../route.ts'

/** The router keeps one tree for each method. We put all our routes into this tree. */
const TREE = 'GET'

/** The route that a request target names, and the target's parts. */
export interface Found {
  readonly route: Route
  readonly bucket: number
  readonly target: Target
}

export interface Router {
  /** The route of a request target, or the reason if there is none. */
  find(target: string): Found | 'unknownRoute' | 'badTarget'
}

/** Builds the router. `paramMax` is the maximum length of a parameter; a path with a longer parameter matches no route. */
export function createRouter(routes: readonly Route[], paramMax: number): Router {
  // `onBadUrl` is never called. Setting it lets us tell a path that cannot be decoded from a path without a route.
  const paths = findMyWay({ maxParamLength: paramMax, onBadUrl: unused })
  for (const [bucket, route] of routes.entries()) paths.on(TREE, route.path, unused, { route, bucket })
  return {
    find(target) {
      const match = paths.find(TREE, target)
      if (match === null) return 'unknownRoute'
      if (match.store === null) return 'badTarget'
      const { route, bucket } = match.store as { route: Route; bucket: number }
      return { route, bucket, target: { params: match.params, query: match.searchParams } }
    },
  }
}

/** We only ask the router for the route, and run the route ourselves. */
function unused(): never {
  throw new Error('the router was asked to run a route')
}
