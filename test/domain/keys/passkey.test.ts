// Where browsers make passkeys: on the local machine, and at names over https.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invitationLink, relyingPartyAt } from '../../../src/domain/keys/passkey.ts'

const PLACES: [string, id: string | null, origin: string | null][] = [
  ['https://nodes.example', 'nodes.example', 'https://nodes.example'],
  ['https://nodes.example/', 'nodes.example', 'https://nodes.example'],
  ['https://nodes.example:8443/', 'nodes.example', 'https://nodes.example:8443'],
  ['https://node1/', 'node1', 'https://node1'],
  ['https://1.nodes.example', '1.nodes.example', 'https://1.nodes.example'],
  ['https://10.0.0.1.nodes.example', '10.0.0.1.nodes.example', 'https://10.0.0.1.nodes.example'],
  ['https://127.0.0.1.nodes.example', '127.0.0.1.nodes.example', 'https://127.0.0.1.nodes.example'],
  ['http://nodes.example', null, null],
  ['http://localhost.example', null, null],
  ['https://10.0.0.1', null, null],
  ['https://127.0.0.2', null, null],
  ['https://[2606:4700::1111]', null, null],
  ['http://localhost:3000/x', 'localhost', 'http://localhost:3000'],
  ['http://localhost', 'localhost', 'http://localhost'],
  ['https://localhost', 'localhost', 'https://localhost'],
  ['http://127.0.0.1:3000', 'localhost', 'http://localhost:3000'],
  ['https://127.0.0.1', 'localhost', 'https://localhost'],
  ['http://[::1]:3000', 'localhost', 'http://localhost:3000'],
]
for (const [url, id, origin] of PLACES)
  test(`${url} is ${id === null ? 'no place for a passkey' : `the relying party ${id} at ${origin}`}`, () =>
    assert.deepEqual(relyingPartyAt(url), id === null ? null : { id, origin }))

test('an invitation opens the console, with its code in the fragment', () => {
  const party = { id: 'nodes.example', origin: 'https://nodes.example' }
  assert.equal(invitationLink(party, 'c0de'), 'https://nodes.example/console#invite=c0de')
})
