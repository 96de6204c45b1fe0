// Runs code that only reads, as a snapshot's is: the few instructions that it is made of (src/chain/read/state/snapshot.ts). Anything else throws.
import type { Hex } from 'viem'
import type { Address } from '../../../src/domain/units.ts'

/** The state, as such code may ask for it. */
export interface Readable {
  chainId: number
  balanceOf(account: Address): bigint
  /** The answer of a call without value; null where it is refused. */
  call(to: Address, data: Hex): Hex | null
}

const WORD = 32

/** True for code that begins as a snapshot's does, with CHAINID. */
export const isProgram = (code: Hex) => code.startsWith('0x46')

/** The answer of the code. */
export function runProgram(code: Hex, readable: Readable): Hex {
  const program = Buffer.from(code.slice(2), 'hex')
  const stack: bigint[] = []
  let memory = Buffer.alloc(0)
  let answered = 0
  const pop = () => stack.pop() as bigint
  const within = (from: number, size: number) => {
    if (memory.length < from + size) memory = Buffer.concat([memory, Buffer.alloc(from + size - memory.length)])
    return memory.subarray(from, from + size)
  }
  const accountIn = (word: bigint) => `0x${word.toString(16).padStart(40, '0')}` as Address
  // By opcode: EQ, AND, SHL, BALANCE, RETURNDATASIZE, CHAINID, MSTORE, GAS, STATICCALL.
  const instructions: Record<string, () => void> = {
    x14() {
      const [one, other] = [pop(), pop()]
      stack.push(one === other ? 1n : 0n)
    },
    x16: () => stack.push(pop() & pop()),
    x1b() {
      const [by, word] = [pop(), pop()]
      stack.push(BigInt.asUintN(256, word << by))
    },
    x31: () => stack.push(readable.balanceOf(accountIn(pop()))),
    x3d: () => stack.push(BigInt(answered)),
    x46: () => stack.push(BigInt(readable.chainId)),
    x52() {
      const [place, word] = [Number(pop()), pop()]
      within(place, WORD).write(word.toString(16).padStart(WORD * 2, '0'), 'hex')
    },
    x5a: () => stack.push(0n),
    xfa() {
      const [, to, from, size, place, room] = [pop(), pop(), Number(pop()), Number(pop()), Number(pop()), Number(pop())]
      const answer = readable.call(accountIn(to), `0x${within(from, size).toString('hex')}`)
      const bytes = Buffer.from((answer ?? '0x').slice(2), 'hex')
      answered = bytes.length
      bytes.copy(within(place, room), 0, 0, room)
      stack.push(answer === null ? 0n : 1n)
    },
  }
  for (let at = 0; at < program.length; at++) {
    const instruction = program[at] as number
    if (instruction === 0xf3) {
      const [from, size] = [Number(pop()), Number(pop())]
      return `0x${within(from, size).toString('hex')}`
    }
    if (instruction >= 0x60 && instruction <= 0x7f) {
      const size = instruction - 0x5f
      stack.push(BigInt(`0x${program.subarray(at + 1, at + 1 + size).toString('hex')}`))
      at += size
      continue
    }
    const act = instructions[`x${instruction.toString(16)}`]
    if (!act) throw new Error(`the model does not run 0x${instruction.toString(16)}`)
    act()
  }
  return '0x'
}
