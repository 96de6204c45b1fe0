// Proof instead of trust: reads a node through the visitor's own provider.
import { useMutation } from '@tanstack/react-query'
import { Block } from '../../ui/explorer.tsx'
import { part } from '../../ui/part.ts'
import { Failed } from '../../ui/states.tsx'
import { words } from '../../words/ledger.ts'
import { rich } from '../../words/message.ts'

const t = words.provider

/**
 * A button that reads a node through the visitor's own wallet, else through the public RPC, and says whether the chain
 * agrees with the ledger.
 */
export function OwnProvider({ nodeId }: { nodeId: string }) {
  const check = useMutation({
    mutationFn: async () => {
      const { by, verdict } = await (await part(() => import('../../recompute.ts'))).checkNode(nodeId)
      return { by, ...verdict }
    },
  })
  return (
    <div className="stack">
      <button type="button" className="button" disabled={check.isPending} onClick={() => check.mutate()}>
        {check.isPending ? t.reading : t.check}
      </button>
      {check.isError && <Failed error={check.error} />}
      {check.data && (
        <p className={check.data.matches ? 'notice good' : 'notice bad'} role="status">
          <span>
            {rich(check.data.matches ? t.same : t.otherwise, {
              by: check.data.by,
              fields: check.data.differences.join(', '),
              block: <Block of={check.data.blockNumber} />,
            })}
          </span>
        </p>
      )}
    </div>
  )
}
