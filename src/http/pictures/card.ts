// The pictures that a link to a page shows elsewhere, as SVG: what is said on them, and where it stands. Light in both themes, since what they
// are shown on is not known. Every text is cut to its place. A text with letters that the face lacks would be empty boxes: in its place stands
// one that it has (the site's host for the name of a sale, the id for the name of a tier); the page's own title has the name in every script.
import type { PicturedNode, PicturedRound } from '../../db/reads/pictured.ts'
import { escaped, PICTURE } from '../pages/heads.ts'
import { covers, FAMILY, type Weight, widthOf } from './face.ts'

const { width: WIDTH, height: HEIGHT } = PICTURE
const LEFT = 96
const RIGHT = WIDTH - 72
/** As web/src/styles/tokens.css has them for the light theme. */
const COLORS = { ground: '#f6f7fa', ink: '#141824', soft: '#555d72', line: '#dfe3ec', accent: '#4338ca' }
/** A text that is too long is first drawn smaller, to this part of its size, then cut. */
const SMALLEST = 0.45

/** Whose sale it is. */
export interface Sale {
  name: string
  /** `#rrggbb`; null for our own. */
  color: string | null
  host: string
}

interface Text {
  text: string
  y: number
  size: number
  weight: Weight
  color: string
  /** The width that it may take. */
  room: number
  /** At the right edge. */
  ends?: boolean
  /** The left edge of it, where it is not the picture's. */
  x?: number
}

/** A node, what it was credited, and as of when. */
export function nodeCard(sale: Sale, { nodeId, tierId, tierLabel, creditedWei, asOfSec }: PicturedNode): string {
  const tier = tierLabel !== null && covers(tierLabel, 500) ? tierLabel : (tierId ?? '')
  const asOf = `as of ${momentOf(new Date(asOfSec * 1000))}`
  const texts = [
    ...titled(`Node ${nodeId}`, tier),
    ...figure(`${shortEther(creditedWei)} ETH`, 'credited so far', LEFT, RIGHT - LEFT),
    { ...LABEL, text: asOf, room: 560, ends: true },
  ]
  return card(sale, texts, LINE)
}

/** A round: its nodes, its sum, its time. */
export function roundCard(sale: Sale, { round, nodeCount, totalWei, createdAt }: PicturedRound): string {
  const counted = nodeCount.toLocaleString('en-US')
  const middle = LEFT + 400
  const texts = [
    ...titled(`Round ${round}`, momentOf(createdAt)),
    ...figure(counted, nodeCount === 1 ? 'node credited' : 'nodes credited', LEFT, middle - LEFT - 40),
    ...figure(`${shortEther(totalWei)} ETH`, 'credited in all', middle, RIGHT - middle),
  ]
  return card(sale, texts, LINE)
}

/** The sale itself, for every other page: it says nothing that can become old. */
export function saleCard(sale: Sale): string {
  const [first, second] = [
    'Nodes bought by one transfer of ether:',
    'what they were credited, and whether it is covered.',
  ]
  const line = { size: 44, weight: 500 as const, color: COLORS.soft, room: RIGHT - LEFT }
  return card({ ...sale, name: sale.host }, [
    { text: titleOf(sale), y: 310, size: 112, weight: 700, color: COLORS.ink, room: RIGHT - LEFT },
    { ...line, text: first, y: 410 },
    { ...line, text: second, y: 470 },
  ])
}

const titled = (title: string, below: string): Text[] => [
  { text: title, y: 290, size: 128, weight: 700, color: COLORS.ink, room: RIGHT - LEFT },
  { text: below, y: 362, size: 48, weight: 500, color: COLORS.soft, room: RIGHT - LEFT },
]

const LABEL = { y: 560, size: 32, weight: 500, color: COLORS.soft } as const

const figure = (value: string, label: string, x: number, room: number): Text[] => [
  { text: value, y: 508, size: 72, weight: 700, color: COLORS.ink, room, x },
  { ...LABEL, text: label, room, x },
]

const titleOf = ({ name, host }: Sale) => (covers(name, 700) ? name : host)

function card(sale: Sale, texts: readonly Text[], line = ''): string {
  const color = sale.color ?? COLORS.accent
  const title = titleOf(sale)
  const head: Text[] = [{ text: title, y: 112, size: 40, weight: 700, color: COLORS.ink, room: 580, x: LEFT + 68 }]
  if (title !== sale.host)
    head.push({ text: sale.host, y: 110, size: 32, weight: 500, color: COLORS.soft, room: 340, ends: true })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="${FAMILY}">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="${COLORS.ground}"/>`,
    `<rect width="28" height="${HEIGHT}" fill="${color}"/>`,
    `<path d="M${LEFT + 24} 70l22.500 13v26l-22.500 13l-22.500-13v-26z" fill="${color}"/>`,
    line,
    ...[...head, ...texts].map(drawn),
    '</svg>',
  ].join('')
}

/** Between what it is and its figures. */
const LINE = `<rect x="${LEFT}" y="412" width="${RIGHT - LEFT}" height="2" fill="${COLORS.line}"/>`

function drawn({ text, y, size, weight, color, room, ends, x = LEFT }: Text): string {
  const { text: shown, size: fitting } = fitted(text, size, weight, room)
  const place = ends ? `x="${RIGHT}" text-anchor="end"` : `x="${x}"`
  return `<text ${place} y="${y}" font-size="${fitting.toFixed(1)}" font-weight="${weight}" fill="${color}">${escaped(shown)}</text>`
}

/** A text as it fits into its room: smaller where it is too long, and cut where that is not enough. */
export function fitted(text: string, size: number, weight: Weight, room: number): { text: string; size: number } {
  const width = widthOf(text, weight)
  if (width * size <= room) return { text, size }
  const smallest = size * SMALLEST
  if (width * smallest <= room) return { text, size: room / width }
  const letters = [...text]
  while (letters.length > 0 && widthOf(`${letters.join('')}…`, weight) * smallest > room) letters.pop()
  return { text: `${letters.join('').trimEnd()}…`, size: smallest }
}

let format: Intl.DateTimeFormat | null = null
/** A time as it is read. The form is made with the first picture: it takes longer than all else of this file. */
function momentOf(time: Date): string {
  format ??= new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  return `${format.format(time)} UTC`
}

const WEI_PER_ETHER = 10n ** 18n

/** Ether cut to six decimals, whole where nothing is left then, as the pages show it. Never rounded up. */
function shortEther(wei: bigint): string {
  const whole = (wei / WEI_PER_ETHER).toLocaleString('en-US')
  const decimals = (wei % WEI_PER_ETHER).toString().padStart(18, '0')
  const shown = wei < WEI_PER_ETHER / 1_000_000n ? decimals : decimals.slice(0, 6)
  const kept = shown.replace(/0+$/, '')
  return kept === '' ? whole : `${whole}.${kept}`
}
