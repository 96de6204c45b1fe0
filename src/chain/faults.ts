// Faults of the chain side, split by what to do about them. A fault says "could not", never "is not".

/** `retryable`: ask again later or elsewhere. `fatal`: this is not the chain we were set up for; stop and say so. */
export class ChainFault extends Error {
  readonly retryable: boolean

  constructor(message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'ChainFault'
    this.retryable = options.retryable
  }
}
