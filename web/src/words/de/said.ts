// Deutsch: was Dienst, Vertrag und Client auf Englisch sagen, nach ihrem Satz. Was hier fehlt, erscheint so, wie es kam.
export const sentences: Readonly<Record<string, string>> = {
  // The service.
  'Not an address: 0x and 40 hex digits are required, with a right checksum where the case is mixed.':
    'Das ist keine Adresse: Nötig sind 0x und 40 Hex-Ziffern, bei gemischter Schreibung mit richtiger Prüfsumme.',
  'Not an id: a positive whole number up to 2^256 - 1 is required.':
    'Das ist keine Nummer: Nötig ist eine positive ganze Zahl bis 2^256 − 1.',
  'A payment is named by its transaction hash: 0x and 64 hex digits.':
    'Eine Zahlung wird durch ihren Transaktions-Hash bezeichnet: 0x und 64 Hex-Ziffern.',
  'No such tier is on sale.': 'Ein solcher Tier wird nicht verkauft.',
  'The transaction failed on chain.': 'Die Transaktion ist auf der Chain fehlgeschlagen.',
  'The transaction minted no node.': 'Die Transaktion hat keinen Node gemintet.',
  'The transaction is not a transfer of a tier price to the payments wallet.':
    'Die Transaktion überweist nicht den Preis eines Tiers an die Zahlungs-Wallet.',
  'The amount is the price of no tier; the payment is held for review.':
    'Der Betrag ist der Preis keines Tiers; die Zahlung ist zur Prüfung zurückgestellt.',
  'The amount is far below every price: it is on record, and neither a node nor a refund comes of it.':
    'Der Betrag liegt weit unter jedem Preis: Er ist verzeichnet, führt aber weder zu einem Node noch zu einer Erstattung.',
  'Not signed in, or the session has expired.': 'Sie sind nicht angemeldet, oder die Sitzung ist abgelaufen.',
  'The nonce was used already or has lapsed: ask for a new one.':
    'Die Anmeldung hat zu lange gedauert oder wurde schon verwendet: Bitte beginnen Sie neu.',
  'The signature does not belong to that address and message.':
    'Die Unterschrift gehört nicht zu dieser Adresse und diesem Text.',
  'The chain names another wallet as the owner of that node.':
    'Die Chain nennt eine andere Wallet als Eigentümer dieses Nodes.',
  'Not found.': 'Nicht gefunden.',
  'No such node.': 'Diesen Node gibt es nicht.',
  'There is no such tier.': 'Diesen Tier gibt es nicht.',
  'No such distribution.': 'Diese Runde gibt es nicht.',
  'No node with that id has been minted.': 'Ein Node mit dieser Nummer wurde nicht gemintet.',
  'The transaction has not been confirmed yet.': 'Die Transaktion ist noch nicht bestätigt.',
  'The transaction is not in a block that the node RPC has seen yet: try again shortly.':
    'Die Transaktion ist noch in keinem Block, den der Dienst gesehen hat: Versuchen Sie es gleich noch einmal.',
  'The node was minted to this wallet, which the chain no longer names as its owner.':
    'Der Node wurde für diese Wallet gemintet, doch die Chain nennt sie nicht mehr als Eigentümer.',
  // The contract.
  'The node does not hold that much.': 'Der Node hält nicht so viel.',
  'Withdrawals cannot go to the zero address or to the contract itself.':
    'Auszahlungen können nicht an die Null-Adresse oder an den Vertrag selbst gehen.',
  'The wallet does not own this node.': 'Dieser Node gehört der Wallet nicht.',
  'The recipient refused the ether.': 'Der Empfänger hat den Ether nicht angenommen.',
  'There is no such node.': 'Diesen Node gibt es nicht.',
  'There is nothing to withdraw.': 'Es gibt nichts auszuzahlen.',
  // The client.
  'The wallet refused. Nothing was sent.': 'Die Wallet hat abgelehnt. Es wurde nichts gesendet.',
  'The service names no contract.': 'Der Dienst nennt keinen Vertrag.',
  'The contract wallet did not carry the call out. Nothing moved.':
    'Die Vertrags-Wallet hat den Aufruf nicht ausgeführt. Es wurde nichts bewegt.',
  'The wallet sends nothing for this page. Make the call in the wallet itself.':
    'Die Wallet sendet nichts für diese Seite. Machen Sie den Aufruf in der Wallet selbst.',
  'The contract refused in the block, although not before. Nothing moved.':
    'Der Vertrag hat im Block abgelehnt, vorher nicht. Es wurde nichts bewegt.',
  'The price is {price} ETH now. Nothing was sent.': 'Der Preis ist jetzt {price} ETH. Es wurde nichts gesendet.',
  'The wallet is on chain {at}; this ledger is on chain {chain}. Switch, then try again.':
    'Die Wallet ist auf Chain {at}; dieses Ledger ist auf Chain {chain}. Schalten Sie um, und versuchen Sie es erneut.',
  '{why} Pay from an ordinary account.':
    'Diese Wallet ist ein Vertrag. Ihr Ether käme durch einen inneren Aufruf, den das Ledger zur Prüfung zurückstellt. Zahlen Sie aus einem gewöhnlichen Konto.',
}

/** A sentence in German; null where there is none. Places of a sentence hold whatever came. */
export function said(sentence: string): string | null {
  if (Object.hasOwn(sentences, sentence)) return sentences[sentence] ?? null
  for (const [theirs, ours] of Object.entries(sentences)) {
    const names = [...theirs.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    if (names.length === 0) continue
    const parts = theirs.split(/\{\w+\}/).map((part) => part.replace(/[.*+?()|[\]\\^$]/g, '\\$&'))
    const found = new RegExp(`^${parts.join('(.+)')}$`).exec(sentence)
    if (found) return ours.replace(/\{(\w+)\}/g, (_, name: string) => found[names.indexOf(name) + 1] ?? '')
  }
  return null
}
