// The same plays as in orders.test.ts, more and longer.
import { test } from 'node:test'
import { cases } from '../support/property.ts'
import { playOrders } from './orders.ts'

for (let seed = 100; seed < 100 + cases(40); seed++)
  test(`whatever the order, each transfer is in the books once (seed ${seed})`, () => playOrders(seed, 40))
