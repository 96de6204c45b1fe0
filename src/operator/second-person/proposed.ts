// The answer of an act that waits for a second person.

/** What is answered instead of an act's own result where it waits for a second person. */
export interface Proposed {
  proposal: { id: number; act: string; expiresAt: Date; says: string }
}

export const isProposed = (answer: object): answer is Proposed => 'proposal' in answer
