// The files to mutate, in two groups with their goals, and the tests that must notice a change: quick tests that need no service.

export interface Group {
  name: string
  /** The percentage of changes that the tests must notice. */
  goal: number
  files: readonly string[]
  tests: readonly string[]
}

export const GROUPS: readonly [Group, Group] = [
  {
    name: 'money and auth',
    goal: 95,
    files: [
      'src/domain/**/*.ts',
      'src/chain/digest.ts',
      'src/chain/send/send-errors.ts',
      'src/http/session/{session,sign-in-message,signature,origin,cookies}.ts',
      'src/http/secrets.ts',
      'src/http/edge/guards.ts',
      'src/http/routes/admin/guard.ts',
    ],
    tests: [
      'test/domain/**/*.test.ts',
      'test/models/*.test.ts',
      'test/webhooks/{config,target}.test.ts',
      'test/operator/allowlists/tree.test.ts',
      'test/http/*.property.test.ts',
      'test/chain/{send-errors,digest}.test.ts',
    ],
  },
  {
    name: 'the rest',
    goal: 85,
    files: [
      'src/http/edge/{client-address,limits}.ts',
      'src/chain/prove/bloom.ts',
      'src/price/eth-usd.ts',
      'src/config/{values,weak}.ts',
    ],
    tests: [
      'test/http/{limits,parsers}.property.test.ts',
      'test/http/client-address.test.ts',
      'test/chain/prove/bloom.test.ts',
      'test/price/eth-usd.test.ts',
      'test/config/{load,values}.test.ts',
    ],
  },
]
