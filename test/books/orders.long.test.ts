// The same plays as in orders.test.ts, more and longer.
import { test } from 'node:test'
import { cases } from '../support/property.ts'
import { playOrders } from './orders.ts'

for (let seed = 100; seed < 100 + cases(40); seed++)
  test(`in any order, the books hold each transfer once (seed ${seed})`, () => playOrders(seed, 40))
