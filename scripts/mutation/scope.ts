// What is mutated, in two groups with their goals, and the tests that must notice: those that are quick and need no service.

export const GROUPS = {
  'money and auth': {
    goal: 95,
    files: [
      'src/domain/*.ts',
      'src/chain/{digest,send-errors}.ts',
      'src/http/{session,sign-in-message,signature,secrets,origin,cookies,guards}.ts',
      'src/http/routes/admin/door.ts',
      'src/operator/csv.ts',
    ],
  },
  'the rest': {
    goal: 85,
    files: [
      'src/http/{client-address,limits,gate}.ts',
      'src/chain/bloom.ts',
      'src/feeds/eth-usd.ts',
      'src/config/{values,weak}.ts',
      'src/operator/input.ts',
    ],
  },
} as const

export const TESTS = [
  'test/domain/*.test.ts',
  'test/http/*.property.test.ts',
  'test/chain/{send-errors,digest,bloom}.test.ts',
  'test/feeds/eth-usd.test.ts',
  'test/config.test.ts',
  'test/operator/input.test.ts',
]
