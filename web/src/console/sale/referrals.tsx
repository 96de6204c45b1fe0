// The referral codes with their versions, what they earned, and the acts for paying the earnings out.
import { Empty } from '../../ui/states.tsx'
import { ActButton } from '../act.tsx'
import { listSection } from '../list.tsx'
import { SafeFile } from '../safe-file.tsx'

const Codes = listSection('referrals', {
  title: 'Referral codes',
  aside: () => (
    <>
      <ActButton
        main
        label="Register a code"
        act="referrals"
        says="It counts from the next block on. Earlier payments keep the version of their block."
      />
      <ActButton
        label="Register a list"
        act="referrals/add"
        says="Registers all of its codes, or none if a line is bad."
      />
    </>
  ),
  empty: <Empty title="No code yet.">A payment with a code earns its payee a commission.</Empty>,
})

const Commissions = listSection('referrals/commissions', {
  title: 'Commissions',
  aside: () => (
    <ActButton
      label="File for a Safe"
      act="referrals/commissions/file"
      says="It pays each code what is due, without what an earlier file pays. Record its transaction for each code."
      did={({ says, safeBatch }) => (
        <div className="stack">
          <p>{says}</p>
          {safeBatch && <SafeFile safeBatch={safeBatch} name="commissions-safe.json" />}
        </div>
      )}
    />
  ),
  empty: <Empty title="Nothing earned yet.">A code earns its commission once the payment is a node.</Empty>,
  decide: ({ code }) => (
    <ActButton
      label="Record a payment"
      act="referrals/{code}/paid"
      params={{ code }}
      says="The chain must show it. One transfer proves one commission."
    />
  ),
})

export function ReferralsConsole() {
  return (
    <>
      <Codes />
      <Commissions />
    </>
  )
}
