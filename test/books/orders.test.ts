// Money of residues is neither lost nor doubled, in whatever order passes, acts, kills and reorganisations come: a few plays.
import { test } from 'node:test'
import { playOrders } from './orders.ts'

for (const seed of [1, 2])
  test(`in any order, the books hold each transfer once (seed ${seed})`, () => playOrders(seed, 14))
