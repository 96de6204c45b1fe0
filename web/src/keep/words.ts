// The texts of the page to keep, in English and German. It is one file, so both are in it: what stands in the page by the name in its `data-text`, the
// rest as functions of what changes.
import { said } from '../words/de/said.ts'
import { type Language, nameLanguage, wantedLanguage } from '../words/language.ts'

/** The language of this page: as the reader chose here, else as their browser says. */
export const LANGUAGE: Language = wantedLanguage()

const english = {
  connect: (wallet: string) => `Connect ${wallet}`,
  wallet: 'wallet',
  all: 'All',
  allNodes: 'all nodes, all they hold',
  node: (id: string) => `node #${id}`,
  noAccount: 'The wallet names no account.',
  noContract: 'There is no contract at this address, on the chain that the wallet is on.',
  wrongTo: 'The address to pay to is none, or has a letter wrong.',
  confirmFirst: 'Confirm first that the address is the one you mean.',
  nothing: 'There is nothing to withdraw.',
  holdsNoMore: (ether: string) => `The node holds no more than ${ether} ETH.`,
  sent: (hash: string) => `Sent as ${hash}. Waiting for a block…`,
  asks: (ether: string, to: string) => `Your wallet asks whether to withdraw ${ether} ETH to ${to}.`,
  paid: (ether: string, to: string, block: bigint, hash: string) =>
    `Paid out: ${ether} ETH to ${to}, in block ${block}, by transaction ${hash}.`,
  enterContract: 'Enter the contract’s address first: the operator or your receipt names it.',
  enterChain: 'Enter the number of the chain first: 1 is Ethereum.',
  wrongAmount: 'The amount is a number such as 0.25.',
}

const german: typeof english = {
  connect: (wallet) => `${wallet} verbinden`,
  wallet: 'Wallet',
  all: 'Alle',
  allNodes: 'alle Nodes, alles, was sie halten',
  node: (id) => `Node #${id}`,
  noAccount: 'Die Wallet nennt kein Konto.',
  noContract: 'Unter dieser Adresse liegt kein Vertrag, auf der Chain, auf der die Wallet ist.',
  wrongTo: 'Das ist keine Adresse, oder ein Zeichen darin stimmt nicht.',
  confirmFirst: 'Bestätigen Sie zuerst, dass Sie diese Adresse meinen.',
  nothing: 'Es gibt nichts auszuzahlen.',
  holdsNoMore: (ether) => `Der Node hält nicht mehr als ${ether} ETH.`,
  sent: (hash) => `Gesendet als ${hash}. Wartet auf einen Block…`,
  asks: (ether, to) => `Ihre Wallet fragt, ob ${ether} ETH an ${to} ausgezahlt werden sollen.`,
  paid: (ether, to, block, hash) => `Ausgezahlt: ${ether} ETH an ${to}, in Block ${block}, durch Transaktion ${hash}.`,
  enterContract: 'Geben Sie zuerst die Adresse des Vertrags ein: Der Betreiber oder Ihr Beleg nennt sie.',
  enterChain: 'Geben Sie zuerst die Nummer der Chain ein: 1 ist Ethereum.',
  wrongAmount: 'Der Betrag ist eine Zahl wie 0.25, mit Punkt.',
}

/** German for what stands in the page itself. A test holds the names to those of the page. */
const STANDING: Readonly<Record<string, string>> = {
  title: 'Von Ihren Nodes auszahlen',
  heading: 'Von Ihren Nodes auszahlen',
  about:
    'Diese Seite ist eine einzige Datei und fragt keinen Server: Ihre Wallet liest den Vertrag und sendet, was Sie in ihr bestätigen. Bewahren Sie die Datei auf. Sie arbeitet, solange die Chain es tut, was auch immer aus dem Dienst wird.',
  contract: 'Vertrag der Nodes',
  chain: 'Chain-ID',
  noWallet:
    'Keine Wallet hat sich gezeigt. Nötig ist eine Erweiterung dieses Browsers oder der Browser einer Wallet-App. Liegt die Datei auf Ihrem Gerät, muss die Erweiterung Dateien sehen dürfen: Das steht in ihren Einstellungen im Browser.',
  what: 'Was',
  owns: 'gehört',
  node: 'Node',
  balance: 'Guthaben in ETH',
  from: 'Von',
  amount: 'Betrag in ETH',
  max: 'Alles',
  to: 'An',
  foreign:
    'Das ist nicht die verbundene Wallet. Ich habe jedes Zeichen verglichen; was an eine falsche Adresse geht, ist verloren.',
  withdraw: 'Auszahlen',
}

/** The texts that change, in the language of the page. */
export const words = LANGUAGE === 'de' ? german : english

/** What the client or the contract says, in the language of the page where it is known. */
export const inLanguage = (sentence: string): string => (LANGUAGE === 'de' ? said(sentence) : null) ?? sentence

/** Puts what stands in the page into its language. */
export function translatePage(): void {
  nameLanguage(LANGUAGE)
  if (LANGUAGE !== 'de') return
  for (const element of document.querySelectorAll<HTMLElement>('[data-text]'))
    element.textContent = STANDING[element.dataset.text ?? ''] ?? element.textContent
}
