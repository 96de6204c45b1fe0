// What is known of chains by their ids. Pure.

/** Chains that one has to oneself, where accounts whose keys everybody knows are the usual ones. */
export const DEVELOPMENT_CHAINS: readonly number[] = [1_337, 31_337]
