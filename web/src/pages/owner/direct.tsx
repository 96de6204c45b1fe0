// Withdrawing, also while the service does not answer: then the wallet's own provider reads the nodes, and the contract pays as ever.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useDeployment } from '../../ledger.ts'
import { Section } from '../../ui/page.tsx'
import { Shown } from '../../ui/states.tsx'
import { Connect, WrongChain } from '../../wallet/connect.tsx'
import { saidByWallet } from '../../wallet/errors.ts'
import { type Funded, nodesOnChain } from '../../wallet/on-chain.ts'
import { type ConnectedWallet, useWallet } from '../../wallet/use-wallet.ts'
import { words } from '../../words/owner.ts'
import { Withdraw } from './withdraw.tsx'

const EVERY_MS = 15_000
const t = words.direct

/** The nodes of a wallet as the contract has them; for none (`null`) nothing is read. */
function useNodesOnChain(wallet: ConnectedWallet | null) {
  const deployment = useDeployment().data
  const factory = deployment?.factoryAddress
  return useQuery<Funded[], Error>({
    queryKey: ['on-chain', wallet?.address],
    queryFn: async () => {
      if (!wallet || !factory) return []
      try {
        return await nodesOnChain(await wallet.open(), factory)
      } catch (error) {
        throw saidByWallet(error)
      }
    },
    enabled: wallet !== null && factory !== null && wallet.chainId === deployment?.chainId,
    refetchInterval: EVERY_MS,
  })
}

interface WithdrawSectionProps {
  owner: string
  /** As the service said last. */
  nodes: readonly Funded[]
  wallet: ConnectedWallet | null
  /** The service does not answer just now. */
  isStale: boolean
  /** Stands above what is entered, too. */
  notice?: ReactNode
}

/** Stays as it is where the service comes or goes: a withdrawal may be under way in it. */
export function WithdrawSection({ owner, nodes, wallet, isStale, notice }: WithdrawSectionProps) {
  const onChain = useNodesOnChain(isStale && wallet?.address === owner ? wallet : null)
  return (
    <Section title={words.withdraw}>
      <div className="stack">
        {isStale && (
          <p className="notice" role="status">
            {t.works} {onChain.data ? t.readByWallet : t.saidLast}
          </p>
        )}
        <Withdraw owner={owner} nodes={(isStale ? onChain.data : undefined) ?? nodes} wallet={wallet} notice={notice} />
      </div>
    </Section>
  )
}

/** For the wallet that is connected, without a session and without the service. */
export function Direct() {
  const wallet = useWallet()
  const deployment = useDeployment().data
  const reading = useNodesOnChain(wallet)
  return (
    <Section title={t.title}>
      <div className="stack">
        <p>{t.how}</p>
        {!wallet && (
          <div className="narrow">
            <Connect />
          </div>
        )}
        <WrongChain />
        {wallet && wallet.chainId === deployment?.chainId && (
          <Shown reading={reading}>
            {(nodes) => <Withdraw owner={wallet.address} nodes={nodes} wallet={wallet} />}
          </Shown>
        )}
      </div>
    </Section>
  )
}
