// The tier that an amount was probably meant for.

/** How far an amount is from a tier's price. */
export const distanceOf = (wei: bigint, { priceWei }: { priceWei: bigint }): bigint =>
  priceWei > wei ? priceWei - wei : wei - priceWei

/** The tier whose price is nearest to an amount; null if there are no tiers. */
export const nearestTier = <T extends { priceWei: bigint }>(wei: bigint, tiers: readonly T[]): T | null =>
  tiers.toSorted((a, b) => (distanceOf(wei, a) < distanceOf(wei, b) ? -1 : 1))[0] ?? null
