// Options that commands of several groups take.

export const YES = { yes: { help: 'do not ask', isOurs: true } } as const
export const REASON = { reason: { value: 'text', help: 'your reason, kept in the audit log' } }
