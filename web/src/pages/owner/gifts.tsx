// Whether the wallet accepts nodes that others send to it: the contract's answer, and the owner's call to change it.
import { declineGifts, declinesGifts } from '@node-ledger/client/viem'
import { useMutation, useQuery } from '@tanstack/react-query'
import { directory, queries } from '../../ledger.ts'
import { Section } from '../../ui/page.tsx'
import type { ConnectedWallet } from '../../wallet/use-wallet.ts'
import { words } from '../../words/owner.ts'
import { NotSent } from './not-sent.tsx'

const t = words.gifts

/** Shows and changes that setting. Renders nothing until the contract has answered, because a wallet on another chain cannot read it. */
export function Gifts({ wallet }: { wallet: ConnectedWallet }) {
  const key = ['gifts', wallet.chainId, wallet.address]
  const reading = useQuery({ queryKey: key, queryFn: async () => declinesGifts(directory, await wallet.open()) })
  const act = useMutation({
    mutationFn: async (decline: boolean) => declineGifts(directory, await wallet.open(), decline),
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  })
  if (reading.data === undefined) return null
  const declines = reading.data
  return (
    <Section title={t.title}>
      <div className="stack narrow">
        <p role="status">{declines ? t.declines : t.accepts}</p>
        <p className="note">{t.market}</p>
        {act.error && <NotSent error={act.error} />}
        <div className="buttons">
          <button type="button" className="button" disabled={act.isPending} onClick={() => act.mutate(!declines)}>
            {act.isPending ? t.confirm : declines ? t.accept : t.decline}
          </button>
        </div>
      </div>
    </Section>
  )
}
