// Checks with a block's logs bloom whether the factory may have logged something: "certainly not" or "perhaps". It can never prove that there is a
// log, because the bloom of a full block answers "perhaps" to almost everything.
import { hexToBytes } from 'viem/utils'
import { keccak } from './items.ts'

/** The bits that an address or topic sets in the 2048-bit bloom (yellow paper, M3:2048). Bit 0 is the lowest. */
export function bloomBits(value: `0x${string}` | Uint8Array): number[] {
  const digest = keccak(typeof value === 'string' ? hexToBytes(value) : value)
  return [0, 2, 4].map((at) => (((digest[at] ?? 0) << 8) | (digest[at + 1] ?? 0)) & 2047)
}

function isSet(bloom: string, bit: number): boolean {
  // The hex digit that holds the bit, counted from the end of the string.
  const digit = Number.parseInt(bloom.charAt(bloom.length - 1 - (bit >> 2)), 16)
  return ((digit >> (bit & 3)) & 1) === 1
}

export interface BloomCheck {
  /** False if the bloom rules out that the address logged this topic in the block. */
  mayHold(bloom: string, topic: `0x${string}`): boolean
  /** False if the bloom rules out all of the topics. */
  mayHoldAny(bloom: string): boolean
}

/** Prepares the check for one address and the topics that matter. */
export function createBloomCheck(address: `0x${string}`, topics: readonly `0x${string}`[]): BloomCheck {
  const addressBits = bloomBits(address)
  const topicBits = new Map(topics.map((topic) => [topic, bloomBits(topic)]))
  const holds = (bloom: string, bits: readonly number[]) => bits.every((bit) => isSet(bloom, bit))
  return {
    mayHold: (bloom, topic) => holds(bloom, addressBits) && holds(bloom, topicBits.get(topic) ?? bloomBits(topic)),
    mayHoldAny: (bloom) => holds(bloom, addressBits) && [...topicBits.values()].some((bits) => holds(bloom, bits)),
  }
}

/** True if all bits are zero. Then the block has no logs, or the chain does not fill blooms. */
export function isEmptyBloom(bloom: string): boolean {
  return /^0x0+$/.test(bloom)
}
