// A node's picture, as the contract draws it (contracts/src/NodeMetadata.sol): a card whose hue comes from the number. A node that is not minted yet
// has no number, so its card shows the tier, in the sale's colour.
import { ringsOf } from '../words/rings.ts'

interface PictureProps {
  nodeId: string
  /** What is below the circle. */
  line?: string
}

export function Picture({ nodeId, line = '' }: PictureProps) {
  return (
    <svg
      className="picture"
      viewBox={line ? '0 0 400 400' : '90 90 220 220'}
      preserveAspectRatio="xMidYMid slice"
      aria-hidden="true"
    >
      <rect width="400" height="400" fill={`hsl(${(BigInt(nodeId) * 137n) % 360n},45%,28%)`} />
      <circle cx="200" cy={line ? 165 : 200} r="72" />
      <text x="200" y={line ? 183 : 218} fontSize="52">
        {nodeId}
      </text>
      <text x="200" y="300" fontSize="24">
        {line}
      </text>
    </svg>
  )
}

/** A tier's rings: the more it earns, the more of them. */
export const TierPicture = (tier: { payoutBps: number }) => (
  <svg className="picture tier-picture" viewBox="0 0 400 110" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
    <rect width="400" height="110" />
    {ringsOf(tier).map((r) => (
      <circle key={r} cx="200" cy="55" r={r} />
    ))}
  </svg>
)
