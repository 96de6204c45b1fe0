// In which blocks ether moved that the books lack, as a second reading of docs/BOOKS.md (The statement: other, unexplainedWei) and of
// docs/ARCHITECTURE.md (The payments wallets' balances: Locating, Limits). The model knows what moved in each block, and sees none of the balances.

// Choices in what the documents leave open:
// - What came and went to the same wei between two readings may be missed. What is found then is still right in sum, and in each of its ranges.
// - The check of a wallet says the least range: from one block whose state can be read to the next. The statement may say a wider one if it lacks states.

export interface Range {
  fromBlock: number
  toBlock: number
  wei: bigint
}
export interface History {
  /** The block at which the books agreed, and the one at which they are compared. */
  opening: number
  closing: number
  /** What moved in a block and is not in the books; negative if it left. */
  hidden: Map<number, bigint>
  /** The first block whose state, and that of each later one, can be read. */
  statesFrom: number
}

export function movedIn({ hidden }: History, fromBlock: number, toBlock: number): bigint {
  let wei = 0n
  for (let block = fromBlock; block <= toBlock; block++) wei += hidden.get(block) ?? 0n
  return wei
}

/** True if nothing can cancel: all that moved unseen came, or all of it left. */
export function isOneWay({ hidden }: History): boolean {
  const all = [...hidden.values()]
  return all.every((wei) => wei > 0n) || all.every((wei) => wei < 0n)
}

/** The least ranges: from each block whose balance can be known to the next one, if anything moved between them. */
export function leastRanges(history: History): Range[] {
  const found: Range[] = []
  let known = history.opening
  for (let block = history.opening + 1; block <= history.closing; block++) {
    if (block < history.statesFrom && block !== history.closing) continue
    const wei = movedIn(history, known + 1, block)
    if (wei !== 0n) found.push({ fromBlock: known + 1, toBlock: block, wei })
    known = block
  }
  return found
}

/** What is wrong with ranges that were found. */
export function faultsOf(history: History, ranges: Range[]): string[] {
  const faults: string[] = []
  const total = ranges.reduce((sum, { wei }) => sum + wei, 0n)
  if (total !== movedIn(history, history.opening + 1, history.closing)) faults.push('their sum is not what moved')
  let end = history.opening
  for (const { fromBlock, toBlock, wei } of ranges) {
    if (fromBlock <= end || toBlock < fromBlock || toBlock > history.closing)
      faults.push('they overlap or leave the period')
    if (wei === 0n || wei !== movedIn(history, fromBlock, toBlock)) faults.push('a range says what did not move in it')
    if (fromBlock < toBlock && fromBlock >= history.statesFrom)
      faults.push('a range is wide although its states are there')
    end = toBlock
  }
  return faults
}
