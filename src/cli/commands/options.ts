// Options that commands of several groups take.

export const YES = { yes: { help: 'do not ask', isOurs: true } } as const
export const REASON = { reason: { value: 'text', help: 'kept in the audit log' } }
export const PAGE = {
  limit: { value: 'n', help: 'rows, 1 to 200; 50 where it is left out' },
  cursor: { value: 'cursor', help: 'the page after the one that named it' },
}
