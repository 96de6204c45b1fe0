// German, in one file that is loaded where it is chosen. It imports nothing of the pages (catalogue.ts says why).
//
// Words of the trade, each used in one way:
//   stay as the field says them: der Node (die Nodes), die Wallet, das Gas, der Tier (die Tiers), die Chain, der Block, der Hash, der Seed, der Mint
//   (gemintet), das Ledger, der Safe, der Smart Account
//   translated: round Runde, credit Gutschrift, withdraw auszahlen, payment Zahlung, transfer Überweisung, payments wallet Zahlungs-Wallet, contract
//   Vertrag, operator Betreiber, owner Eigentümer, held zurückgestellt, review Prüfung, allowance Kontingent, holding Bestand, cover Deckung,
//   surplus Überschuss, receipt Beleg, sign in anmelden, sign unterschreiben
import { checkout } from './checkout.ts'
import { detail } from './detail.ts'
import { ledger } from './ledger.ts'
import { owner } from './owner.ts'
import { payment } from './payment.ts'
import { said } from './said.ts'
import { ui } from './ui.ts'
import { wallet } from './wallet.ts'

export const german = { ui, ledger, detail, payment, checkout, owner, wallet, said }
