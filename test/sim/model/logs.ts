// Logs of the model's contracts, encoded from events.
import { encodeAbiParameters, encodeEventTopics, type Hex, toEventSelector } from 'viem'
import { factoryFullAbi } from '../../../contracts/factory.full.abi.ts'
import { demoTokenAbi } from '../../../src/chain/factory/abi.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import type { Event } from './factory.ts'

export interface Log {
  address: Address
  topics: Hash[]
  data: Hex
}

interface AbiEvent {
  type: 'event'
  name: string
  inputs: readonly { name: string; type: string; indexed?: boolean }[]
}
const EVENTS = new Map(
  (factoryFullAbi.filter((item) => item.type === 'event') as unknown as AbiEvent[]).map((item) => [
    item.name,
    { item, topic: toEventSelector(item as never) as Hash },
  ]),
)

/** An event of a factory. */
export function encodeLog(self: Address, { name, args }: Event): Log {
  const event = EVENTS.get(name)
  if (!event) throw new Error(`the factory has no event ${name}`)
  const { inputs } = event.item
  const indexed = inputs.filter((input) => input.indexed)
  const plain = inputs.filter((input) => !input.indexed)
  const topics = indexed.map((input) => encodeAbiParameters([input], [args[input.name]] as never) as Hash)
  const data = encodeAbiParameters(plain, plain.map((input) => args[input.name]) as never)
  return { address: self, topics: [event.topic, ...topics], data }
}

/** Logs a transfer of the demo token. */
export function transferLog(logs: Log[], token: Address, from: Address, to: Address, amount: bigint): void {
  const topics = encodeEventTopics({ abi: demoTokenAbi, eventName: 'Transfer', args: { from, to } }) as Hash[]
  logs.push({ address: token, topics, data: encodeAbiParameters([{ type: 'uint256' }], [amount]) })
}

/** Ether without a call becomes surplus of the factory. */
export const receiveStray = (logs: Log[], factory: Address, sender: Address, amount: bigint) =>
  void logs.push(encodeLog(factory, { name: 'EtherReceived', args: { sender, amount } }))
