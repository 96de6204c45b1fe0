// Every bug that is planted, whatever it is about.
import { BUGS, type PlantedBug } from './bugs.ts'
import { LEDGER_BUGS } from './ledger.ts'
import { MONEY_AND_AUTH_BUGS } from './money-and-auth.ts'
import { ROW_BUGS } from './rows.ts'

export const PLANTED_BUGS: readonly PlantedBug[] = [...BUGS, ...MONEY_AND_AUTH_BUGS, ...LEDGER_BUGS, ...ROW_BUGS]
