// What the button says, in German. The trade's words are those of the pages (web/src/words/de/index.ts).
import { inEther } from '../purchase.ts'
import type { BuyerCheck } from '../types.ts'
import type { Words } from './words.ts'

const underWay = (count: number) => (count > 0 ? `, und ${count} unterwegs` : '')

function whyNot(check: BuyerCheck, label: string): string {
  switch (check.check) {
    case 'onSale':
      return `${label} ist derzeit nicht im Verkauf.`
    case 'allowance':
      return `Sie haben ${check.owned} der ${check.limit} Nodes dieses Tiers, die eine Wallet haben darf${underWay(check.underWay)}.`
    case 'cap':
      return `Sie haben ${check.owned} der insgesamt ${check.limit} Nodes, die der Vertrag einer Wallet erlaubt${underWay(check.underWay)}.`
    case 'holding':
      return `Dieser Tier verlangt einen Bestand an ${check.symbol ?? 'seinem Token'}, den Ihre Wallet nicht hat.`
    case 'ether':
      return check.requiredWei === null || check.balanceWei === null
        ? 'Ihr Ether reicht nicht für Preis und Gas.'
        : `Sie haben ${inEther(check.balanceWei)} ETH; Preis und Gas brauchen ${inEther(check.requiredWei)} ETH.`
    case 'review':
      return 'Der Betreiber würde sich diese Zahlung zuerst ansehen: Sie wäre zurückgestellt, bis er den Node freigibt oder den Ether zurücksendet.'
  }
}

/** By the code of a WalletError. */
const WALLET: Readonly<Record<string, string>> = {
  rejected: 'Sie haben in der Wallet abgelehnt. Es wurde nichts gesendet.',
  wrongChain: 'Die Wallet ist in einem anderen Netzwerk. Es wurde nichts gesendet.',
  priceChanged: 'Der Preis hat sich geändert. Es wurde nichts gesendet.',
  contractWallet:
    'Das ist eine Vertrags-Wallet: Zahlen Sie auf der eigenen Seite des Ledgers. Es wurde nichts gesendet.',
  notOffered: 'Die Wallet sendet nichts für diese Seite.',
}

export const german: Words = {
  buyOne: 'Einen Node kaufen',
  buy: (label, price) => `${label} für ${price} kaufen`,
  pay: (price) => `${price} bezahlen`,
  again: 'Erneut versuchen',
  checkAgain: 'Erneut prüfen',
  another: 'Noch einen kaufen',
  noWallet: 'In diesem Browser wurde keine Wallet gefunden.',
  otherWays: 'Vom Telefon oder von Hand zahlen',
  onOwnPage: 'Auf der eigenen Seite des Ledgers zahlen',
  payWith: 'Zahlen mit:',
  checking: (wallet) => `Wird mit ${wallet} geprüft…`,
  notOffered: 'Diese Zahlung würde zurückgestellt, darum wird sie nicht angeboten:',
  agree:
    'Der Betreiber würde sich diese Zahlung zuerst ansehen: Sie wäre zurückgestellt, bis er den Node freigibt oder den Ether zurücksendet. Trotzdem bezahlen.',
  partlyUnknown: 'Nicht alles ließ sich gerade prüfen. Was nicht besteht, würde zurückgestellt, nicht verloren.',
  confirm: (price) => `Bestätigen Sie ${price} in der Wallet…`,
  notHeard: (price) =>
    `Dieser Browser hat eine Wallet um ${price} gebeten und nicht erfahren, was daraus wurde. Haben Sie bestätigt, erscheint die Zahlung hier nach ein, zwei Blöcken. Zahlen Sie nicht noch einmal, bevor Sie in der Wallet nachgesehen haben.`,
  nothingSent: 'Nichts wurde gesendet: jetzt kaufen',
  paymentPage: 'Seite dieser Zahlung',
  node: (id) => `Node #${id}`,
  walletFailed: (why) => `Die Wallet konnte es nicht ausführen: ${why}`,
  whyNot,
  fault: (fault) => {
    if ('code' in fault) return WALLET[fault.code] ?? null
    if (fault.status === null) return 'Der Dienst ist nicht erreichbar.'
    if (fault.status === 429) return 'Zu viele Anfragen von hier. Versuchen Sie es in einer Minute erneut.'
    return fault.status >= 500 ? 'Der Dienst kann das derzeit nicht beantworten.' : null
  },
  states: {
    waiting: 'Gesendet. Wartet auf einen Block…',
    seen: 'In einem Block. Wird geprüft…',
    accepted: 'Angenommen. Ihr Node wird beim nächsten Durchlauf gemintet…',
    minting: 'Ihr Node wird gemintet…',
    minted: 'Ihr Node ist gemintet.',
    held: 'Zurückgestellt: Der Betreiber sieht sich diese Zahlung an. Nichts ist verloren.',
    refunded: 'Der Betreiber hat den Ether zurückgesandt.',
    dismissed: 'Der Betreiber hat diese Zahlung ohne Node abgeschlossen.',
    orphaned:
      'Die Chain hat den Block dieser Überweisung zurückgenommen. Sie zählt wieder, sobald sie in einem anderen ist.',
  },
}
