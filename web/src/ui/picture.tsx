// A node's picture, as the contract draws it (contracts/src/NodeMetadata.sol): a card whose hue comes from the number. A node that is not minted yet
// has no number, so its card shows the tier, in the sale's colour.
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

/** Rings around the place of the number. */
const RINGS = [24, 60, 96, 132, 168]

export const TierPicture = ({ label }: { label: string }) => (
  <svg className="picture tier-picture" viewBox="0 0 400 160" aria-hidden="true">
    <rect width="400" height="160" />
    {RINGS.map((radius) => (
      <circle key={radius} cx="320" cy="80" r={radius} />
    ))}
    <text x="24" y="136" fontSize="30">
      {label}
    </text>
  </svg>
)
