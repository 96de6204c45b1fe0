// GET /api/tiers/:id/figures: what the nodes of a tier really got in the last thirty days; no promise of what they will get.
import { readTierFigures } from '../../../db/nodes/tier-figures.ts'
import { TIER_ID_FORM } from '../../../domain/tiers.ts'
import { orRefuse, refuse } from '../../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'

export const tierFigures = ({ queryReplica, cached }: Tools): Route => ({
  path: '/api/tiers/:id/figures',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'public, max-age=0, s-maxage=60, stale-while-revalidate=300',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: ({ params: { id = '' } }) => {
    if (!TIER_ID_FORM.test(id)) return refuse('noSuchTier')
    return orRefuse(
      cached(`figures ${id}`, 60, () => queryReplica((sql) => readTierFigures(sql, id))),
      'noSuchTier',
    )
  },
})
