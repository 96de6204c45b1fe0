// The answer of an act that waits for a second person.

/** The answer in place of an act's own result if it waits for a second person. */
export interface Proposed {
  proposal: { id: number; act: string; expiresAt: Date; says: string }
}

export const isProposed = (answer: object): answer is Proposed => 'proposal' in answer
