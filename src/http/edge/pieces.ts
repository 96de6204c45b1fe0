// Sends large bodies in pieces, of all connections together a few in each turn of the event loop: handing a megabyte to the system
// takes as long as hundreds of small answers, and those must come in between.

/** Bytes that a connection is handed at once. */
export const PIECE_BYTES = 64 * 1024
/** Some tenths of a millisecond; a thousand turns a second still make hundreds of megabytes. */
const PIECES_PER_TURN = 4

/** The queue of bodies that wait for their turn, first come first. */
const waiting: (() => void)[] = []

/** The pieces of a body, each when it is its turn. */
export async function* piecesOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    await myTurn()
    yield body.subarray(at, at + PIECE_BYTES)
  }
}

function myTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(nextTurn)
  })
}

function nextTurn(): void {
  for (const go of waiting.splice(0, PIECES_PER_TURN)) go()
  if (waiting.length > 0) setImmediate(nextTurn)
}
