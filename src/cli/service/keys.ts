// The commands `node-ledger keys new`, which makes a private key and writes it to a file that no other user can read, and `keys address`, which asks
// a key management service for the account of a key. They must never print a key or overwrite an existing file.
import { randomBytes } from 'node:crypto'
import { checksum } from '../../chain/digest.ts'
import { addressOfKey } from '../../chain/pages/wallets.ts'
import { parseKmsKey } from '../../chain/send/kms/key.ts'
import { accountOfKmsKey } from '../../chain/send/kms/signer.ts'
import { parsePrivateKey } from '../../config/values.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { UsageError } from '../errors.ts'
import { writeNew } from '../new-file.ts'

export async function newKey({ out, values }: Call): Promise<ExitCode> {
  const path = values.out ?? ''
  const key = randomKey()
  const address = checksum(addressOfKey(key))
  await writeNew(
    path,
    async () => key,
    (line) => line,
  )
  await out.result({ address, file: path }, address)
  out.say(`Written to ${path}. You cannot generate it again: keep a copy in a safe place.`)
  return EXIT.done
}

export async function keyAddress({ out, args }: Call): Promise<ExitCode> {
  const key = parseKmsKey(args.key ?? '')
  if (key === null)
    throw new UsageError(
      'Not the name of a key. Use arn:aws:kms:<region>:<account>:key/<id>, or projects/<project>/locations/<location>/keyRings/<ring>/cryptoKeys/<key>/cryptoKeyVersions/<version>.',
    )
  const account = checksum(await accountOfKmsKey(key))
  await out.result({ key: key.name, address: account }, account)
  return EXIT.done
}

export function randomKey(): `0x${string}` {
  for (;;) {
    // Nearly every number of this size is a key: all but about one in 2^128.
    const key = parsePrivateKey(randomBytes(32).toString('hex'))
    if (key !== null) return key
  }
}
