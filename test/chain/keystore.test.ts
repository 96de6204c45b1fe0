// Encrypted key files: we open those of other programs, they open ours, and no error contains a secret.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decryptKeystoreJson, encryptKeystoreJsonSync } from 'ethers'
import { decryptKeystore, encryptKeystore, KeystoreError, keystoreAddress } from '../../src/chain/send/keystore.ts'

const KEY = '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const ADDRESS = '0x008aeeda4d805471df9b2a5b0f38a0c3bcba786b'
/** The two files of the definition of Web3 Secret Storage (ethereum.org, "Test Vectors"), against which every client tests itself. */
const PUBLIC_PBKDF2 = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}
const PUBLIC_SCRYPT = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 262144,
      p: 8,
      r: 1,
      salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
    },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}

test('the two files of the definition open with its password', async () => {
  assert.equal(await decryptKeystore(JSON.stringify(PUBLIC_PBKDF2), 'testpassword'), KEY)
  assert.equal(await decryptKeystore(JSON.stringify(PUBLIC_SCRYPT), 'testpassword'), KEY)
})

test('a key file of ethers opens here, and one of ours opens there', async () => {
  const theirs = encryptKeystoreJsonSync({ address: ADDRESS, privateKey: KEY }, 'pässword ☂', { scrypt: { N: 1024 } })
  assert.equal(keystoreAddress(theirs), ADDRESS)
  assert.equal(await decryptKeystore(theirs, 'pässword ☂'), KEY)
  const ours = JSON.stringify(await encryptKeystore(KEY, 'pässword ☂', { scryptN: 1024 }))
  assert.equal(keystoreAddress(ours), ADDRESS)
  const opened = await decryptKeystoreJson(ours, 'pässword ☂')
  assert.equal(opened.privateKey, KEY)
  assert.equal(opened.address.toLowerCase(), ADDRESS)
})

test('a file at the cost that geth asks for opens, though it needs 256 MiB', async () => {
  const file = await encryptKeystore(KEY, 'a password')
  assert.equal(file.crypto.kdfparams.n, 262_144)
  assert.equal(await decryptKeystore(JSON.stringify(file), 'a password'), KEY)
})

test('two files of one key share no salt, no vector and no ciphertext', async () => {
  const [one, other] = await Promise.all([1, 2].map(() => encryptKeystore(KEY, 'same', { scryptN: 2 })))
  assert.notEqual(one?.crypto.ciphertext, other?.crypto.ciphertext)
  assert.notEqual(one?.crypto.cipherparams.iv, other?.crypto.cipherparams.iv)
  assert.notEqual(one?.crypto.kdfparams.salt, other?.crypto.kdfparams.salt)
})

const crypto = (changes: object) => ({ ...PUBLIC_PBKDF2, crypto: { ...PUBLIC_PBKDF2.crypto, ...changes } })
const scryptWith = (changes: object) => ({
  ...PUBLIC_SCRYPT,
  crypto: { ...PUBLIC_SCRYPT.crypto, kdfparams: { ...PUBLIC_SCRYPT.crypto.kdfparams, ...changes } },
})
const REFUSED: [string, unknown, RegExp][] = [
  ['the wrong password', PUBLIC_PBKDF2, /does not open with this password/],
  ['a changed ciphertext', crypto({ ciphertext: '00'.repeat(32) }), /does not open with this password/],
  ['an older version', { ...PUBLIC_PBKDF2, version: 1 }, /not a version 3 key file/],
  ['another cipher', crypto({ cipher: 'aes-256-gcm' }), /is not encrypted with/],
  ['another derivation', crypto({ kdf: 'argon2id' }), /neither with scrypt nor with pbkdf2/],
  ['another pseudo-random function', crypto({ kdfparams: { ...PUBLIC_PBKDF2.crypto.kdfparams, prf: 'md5' } }), /hmac/],
  ['more memory than a gigabyte', scryptWith({ n: 2 ** 23, r: 8 }), /gigabyte/],
  ['a cost that is no power of two', scryptWith({ n: 1000 }), /power of two/],
  ['a mac of another length', crypto({ mac: 'abcd' }), /crypto\.mac is not 32 bytes/],
  ['no crypto at all', { version: 3 }, /crypto is not an object/],
  ['a list', [], /not an object/],
]

for (const [what, file, message] of REFUSED) {
  test(`refused: ${what}`, async () => {
    await assert.rejects(decryptKeystore(JSON.stringify(file), 'wrong'), (error: Error) => {
      assert.ok(error instanceof KeystoreError)
      assert.match(error.message, message)
      return true
    })
  })
}

test('a file whose address is another than its key’s is refused, with the right password too', async () => {
  const file = { ...PUBLIC_PBKDF2, address: `${'1'.repeat(40)}` }
  await assert.rejects(decryptKeystore(JSON.stringify(file), 'testpassword'), /a different address than it names/)
})

test('text that is no key file is refused without being repeated', async () => {
  const secret = KEY.slice(2)
  for (const text of [secret, `{"${secret}"`, `"${secret}"`, 'x'.repeat(20_000)]) {
    await assert.rejects(decryptKeystore(text, 'p'), (error: Error) => {
      assert.ok(error instanceof KeystoreError)
      assert.ok(!error.message.includes(secret))
      return true
    })
  }
})
