// Deutsch: eine Wallet verbinden, und was sie sagt.
import type { wallet as english } from '../en/wallet.ts'
import type { Translated } from '../types.ts'

export const wallet = {
  connect: 'Wallet verbinden',
  disconnect: 'Trennen',
  noneFound: 'In diesem Browser wurde keine Wallet gefunden.',
  install:
    'Installieren Sie eine Wallet-Erweiterung und laden Sie diese Seite neu, oder zahlen Sie vom Telefon mit dem QR-Code auf der Seite eines Tiers.',
  confirm: 'bitte in der Wallet bestätigen…',
  keys: 'Durch das Verbinden sieht diese Seite Ihre Adresse, sonst nichts. Die Schlüssel bleiben in der Wallet.',
  wrongChain: 'Ihre Wallet ist auf Chain {id}; dieses Ledger ist auf {chain}.',
  confirmSwitch: 'Bitte in der Wallet bestätigen…',
  switch: 'Wallet umschalten',
  add: 'In meiner Wallet zeigen',
  added: 'Hinzugefügt',
  apps: {
    open: 'Öffnen Sie diese Seite im Browser Ihrer Wallet-App:',
    another: 'Jede andere App geht auch: Öffnen Sie ihren Browser und gehen Sie zu {host}. Oder zahlen Sie von Hand.',
  },
  notices: {
    hold: 'Diese Wallet ist ein Vertrag. Ihre Zahlung wird zur Prüfung zurückgestellt: Der Betreiber sieht sie sich an und gibt den Node frei oder sendet den Ether zurück. Von einem gewöhnlichen Konto kommt der Node von selbst.',
    proven:
      'Diese Wallet ist ein Vertrag. Aus ihrer Zahlung wird ein Node, sobald bekannt ist, dass sie jemandem gehört. Von einem Safe und anderen bekannten Wallets weiß man es; jede andere <signIn>meldet sich hier an</signIn>, vor der Zahlung oder danach.',
    all: 'Diese Wallet ist ein Vertrag. Sie kauft wie jede andere, und der Node gehört ihr.',
  },
  contractsMay: {
    hold: 'Die Überweisung einer Vertrags-Wallet (Safe, Smart Account) wird zurückgestellt, bis der Betreiber sie angesehen hat.',
    proven:
      'Auch eine Vertrags-Wallet (Safe, Smart Account) kann zahlen, sobald bekannt ist, dass sie jemandem gehört.',
    all: 'Auch eine Vertrags-Wallet (Safe, Smart Account) kann zahlen.',
  },
  proposed:
    'Die Wallet hat den Aufruf angenommen. Gesendet wird er, sobald so viele Unterzeichner zugestimmt haben, wie die Wallet verlangt. Diese Seite wartet darauf, muss aber nicht offen bleiben.',
  call: { to: 'An', value: 'Wert', data: 'Daten', chainId: 'Chain-ID' },
  errors: {
    noAnswer: 'Die Wallet hat nicht geantwortet.',
    refused: 'Die Wallet hat abgelehnt. Es wurde nichts gesendet.',
    tooLittle: 'Die Wallet hat nicht genug Ether für Betrag und Gebühr.',
  },
} as const satisfies Translated<typeof english>
