// What a command says when it does not do what it was asked: each error is one sentence or a few lines that tell what to do,
// and has its exit code (run.ts). Anything else that is thrown is a fault of the program.

/** Called wrongly; nothing was looked at. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Looked at, and refused or declined; nothing was changed. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}

/** What is needed cannot be reached, so that nothing is known. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
}
