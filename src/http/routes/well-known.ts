// GET /.well-known/node-ledger.json: what a wallet page or a client needs to find its way.
import { toJson } from '../../lib/json.ts'
import { pageOf } from '../memo.ts'
import type { Route } from '../route.ts'
import type { Tools } from '../tools.ts'

export const wellKnown = ({ deps }: Tools): Route => {
  const { chainId, publicRpcUrl, factoryAddress, paymentAddress, publicUrl, embedded } = deps.settings
  const apiBase = new URL('/api', publicUrl).href
  // Settings do not change while we run.
  const page = pageOf(toJson({ chainId, rpcUrl: publicRpcUrl, factoryAddress, paymentAddress, apiBase, embedded }))
  return {
    path: '/.well-known/node-ledger.json',
    methods: ['GET'],
    limitPerMinute: null,
    cache: 'public, max-age=60',
    cors: true,
    deadlineMs: null,
    handle: () => page,
  }
}
