// The parts that the bench of reads and its server share.

/** How many connections to the database: as many as the service opens. */
export const CONNECTIONS = 10
