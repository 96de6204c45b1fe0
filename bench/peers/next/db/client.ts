import { drizzle } from 'drizzle-orm/node-postgres'
import { Pool } from 'pg'

/** As many connections as the service has (bench/lib/reads-setup.ts). */
const CONNECTIONS = 10

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: CONNECTIONS })
export const db = drizzle(pool, { casing: 'snake_case' })
