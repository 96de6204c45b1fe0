// Chains known by their ids. Pure.

/** Private development chains, where accounts with publicly known keys are the usual ones. */
export const DEVELOPMENT_CHAINS: readonly number[] = [1_337, 31_337]
