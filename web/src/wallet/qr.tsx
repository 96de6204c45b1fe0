// A QR code, dark on light in both themes, because not every camera reads an inverted code. The library loads with the first code.
import { useQuery } from '@tanstack/react-query'
import type { QrCodeGenerateResult } from 'uqr'
import { part } from '../ui/part.ts'

/** `label` describes what the code contains. Renders nothing until the code is drawn, because the same text is beside it. */
export function Qr({ text, label }: { text: string; label: string }) {
  const code = useQuery({
    queryKey: ['qr', text],
    queryFn: async () => (await part(() => import('uqr'))).encode(text, { ecc: 'M', border: 3 }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return code.data ? <Code code={code.data} label={label} /> : null
}

function Code({ code: { data, size }, label }: { code: QrCodeGenerateResult; label: string }) {
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <path d={path} />
    </svg>
  )
}
