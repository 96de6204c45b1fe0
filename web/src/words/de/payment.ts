// Deutsch: was aus einer Zahlung wird.
import type { payment as english } from '../en/payment.ts'
import type { Translated } from '../types.ts'

export const payment = {
  title: 'Zahlung',
  stands: 'Stand der Zahlung',
  noHash: 'Das ist kein Transaktions-Hash: 0x und 64 Hex-Ziffern.',
  transfer: 'Überweisung {hash}',
  steps: { seen: 'In einem Block gesehen', checked: 'Geprüft', minting: 'Wird gemintet', minted: 'Gemintet' },
  notes: {
    waiting: 'wartet auf den nächsten Block',
    inBlock: {
      one: '{block}, {n} Bestätigung',
      other: '{block}, {n} Bestätigungen',
    },
    checks: 'Betrag, Tier, Kontingent, Bestand',
    sent: 'an den Vertrag gesendet',
    nextRun: 'beim nächsten Durchlauf, in Sekunden',
  },
  said: {
    none: 'Noch in keinem Block',
    orphaned: 'Von der Chain zurückgenommen',
    seen: 'In einem Block',
    accepted: 'Angenommen',
    minting: 'Wird gemintet',
    minted: 'Gemintet',
    held: 'Zurückgestellt',
    refunded: 'Zurückgesandt',
    dismissed: 'Abgeschlossen',
  },
  cannotAsk: 'Der Dienst lässt sich gerade nicht fragen.',
  goesOn: 'Nichts ist verloren; diese Seite geht von selbst weiter.',
  one: 'Zahlung {at} von {all}: {amount} von {payer}',
  orphaned:
    'Die Chain hat den Block dieser Überweisung zurückgenommen. Sie zählt wieder, sobald sie in einem anderen ist.',
  notAPayment: 'Aus dieser Transaktion wird von selbst kein Node. {why}',
  notSeen: {
    other:
      'Eine andere Zahlung dieser Wallet ist angekommen: <other>hier ansehen</other>. Wird eine Transaktion in der Wallet beschleunigt, bekommt sie einen neuen Hash.',
    late: 'Die Chain zeigt diese Transaktion seit einigen Minuten nicht. Sehen Sie in Ihrer Wallet nach: Vielleicht wartet sie noch auf eine Gebühr, wurde durch eine mit anderem Hash ersetzt oder abgebrochen. Zahlen Sie nicht noch einmal, bevor Sie das wissen.',
    all: 'Alle Zahlungen dieser Wallet',
  },
  claim: {
    title: 'Schon bezahlt?',
    hash: 'Hash der Überweisung',
    look: 'Danach suchen',
    wrong: 'Ein Transaktions-Hash ist 0x und 64 Hex-Ziffern.',
  },
  list: {
    title: 'Zahlungen',
    count: { one: '{n} Zahlung', other: '{n} Zahlungen' },
    payment: 'Zahlung',
    paid: 'Bezahlt',
    amount: 'Betrag',
    state: 'Stand',
    node: 'Node',
    states: {
      seen: 'in einem Block',
      accepted: 'angenommen',
      minting: 'wird gemintet',
      minted: 'gemintet',
      held: 'zurückgestellt',
      refunded: 'zurückgesandt',
      dismissed: 'abgeschlossen',
      orphaned: 'von der Chain zurückgenommen',
    },
  },
  success: {
    yours: 'Node {id} gehört Ihnen',
    notScheduled: 'seine erste Runde ist noch nicht angesetzt',
    nextRound: 'nächste Runde {time}',
    see: 'Den Node ansehen',
    node: 'Node {id}',
    link: 'Link',
    linkToNode: 'Link zum Node',
    share: 'Teilen',
  },
  receipt: {
    node: 'Node',
    tier: 'Tier',
    paid: 'Bezahlt',
    inWei: '{ether} ETH ({wei} Wei)',
    paidBy: 'Bezahlt von',
    time: 'Zeit',
    block: 'Block',
    transfer: 'Überweisung',
    minted: 'Gemintet',
    mint: 'Mint',
    contract: 'Vertrag',
    network: 'Netzwerk',
    soldBy: 'Verkauft von',
    page: 'Seite',
  },
  stopped: {
    refunded: 'Der Betreiber hat den Ether zurückgesandt.',
    refundedBy: 'Der Betreiber hat den Ether zurückgesandt, mit der Transaktion {hash}.',
    dismissed: 'Der Betreiber hat diese Zahlung ohne Node abgeschlossen.',
    held: '<strong>Zurückgestellt.</strong> {why}',
    looks: 'Der Betreiber sieht sie sich an.',
    nothingLost:
      'Nichts ist verloren: {amount} liegen in der Zahlungs-Wallet. {next} Bewahren Sie den Hash auf; diese Seite zeigt, was daraus wird.',
    less: 'Das sind {amount} weniger, als {tier} kostet.',
    more: 'Das sind {amount} mehr, als {tier} kostet.',
    decides: 'Der Betreiber entscheidet, ob daraus ein Node wird oder ob sie zurückgeht.',
    noDecision: 'Niemand muss etwas entscheiden; möchten Sie stattdessen den Ether zurück, fragen Sie den Betreiber.',
    ofContract:
      'Der Betreiber vergewissert sich, dass jemand nutzen kann, was diesem Vertrag gehört. Dann gibt er den Node frei oder sendet den Ether zurück.',
    ofProven:
      '<signIn>Melden Sie sich</signIn> mit dieser Wallet an, dann kommt Ihr Node von selbst. Sonst vergewissert sich der Betreiber, dass die Wallet Ihnen gehört, und gibt den Node frei oder sendet den Ether zurück.',
  },
  reasons: {
    wrongAmount: 'Der Betrag ist nicht genau der Preis eines Tiers.',
    saleClosed: 'Der Tier wurde nicht verkauft, als die Überweisung gemacht wurde.',
    tierAllowance: 'Die Wallet hält schon so viele Nodes dieses Tiers, wie eine haben darf; die unterwegs zählen mit.',
    holding:
      'Die Wallet hielt beim Block der Überweisung nicht die Token, die dieser Tier verlangt, oder das ließ sich nicht lesen.',
    walletLimit:
      'Die Wallet hält so viele Nodes, wie der Vertrag erlaubt. Sobald einer übertragen ist, wird dieser von selbst gemintet.',
    review: 'Ein Mensch sieht sich diese Zahlung zuerst an.',
    unattributed:
      'Der Ether kam durch einen Aufruf in einer anderen Transaktion; der Absender ist deshalb nicht sicher.',
    contractWallet: 'Ein Vertrag hat den Ether gesendet: ein Safe, ein Smart Account oder ein anderer.',
    mintReverted: 'Der Vertrag hat den Mint abgelehnt.',
    oldWallet:
      'Sie ging an eine Wallet, die nicht mehr die Zahlungs-Wallet ist. Der Betreiber entscheidet darüber oder sendet den Ether zurück.',
    mintedElsewhere: 'Den Node dieser Zahlung hat eine andere Wallet bekommen. Der Betreiber sendet den Ether zurück.',
    recheck:
      'Das Ledger wurde aus einer Sicherung wiederhergestellt; der Betreiber prüft, ob diese Zahlung schon erledigt ist.',
    refunding: 'Der Betreiber sendet den Ether gerade zurück.',
  },
} as const satisfies Translated<typeof english>
