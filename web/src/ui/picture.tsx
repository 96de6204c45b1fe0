// A node's picture, as the contract draws it (contracts/src/NodeMetadata.sol): a card whose hue comes from the number. A node that is not minted yet
// has no number, so its card shows the tier.
interface PictureProps {
  nodeId?: string
  /** What is in the circle, if not the number. */
  sign?: string
  /** What is below the circle. */
  line?: string
}

export function Picture({ nodeId, sign = nodeId, line = '' }: PictureProps) {
  const seed = nodeId === undefined ? [...line].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) : nodeId
  return (
    <svg
      className="picture"
      viewBox={line ? '0 0 400 400' : '90 90 220 220'}
      preserveAspectRatio="xMidYMid slice"
      aria-hidden="true"
    >
      <rect width="400" height="400" fill={`hsl(${(BigInt(seed) * 137n) % 360n},45%,28%)`} />
      <circle cx="200" cy={line ? 165 : 200} r="72" />
      <text x="200" y={line ? 183 : 218} fontSize="52">
        {sign}
      </text>
      <text x="200" y="300" fontSize="24">
        {line}
      </text>
    </svg>
  )
}
