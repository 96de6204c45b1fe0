// Readings of the chain that an answer can do without: null where the chain could not be asked, which is never 0.

/** The reading, or null where it failed as the chain's faults fail. What is no fault of the chain is thrown on. */
export async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (typeof (error as { retryable?: unknown } | null)?.retryable === 'boolean') return null
    throw error
  }
}
