// The commands that need neither service nor ledger.
import type { Command } from '../command.ts'

export const TOOLS: readonly Command[] = [
  {
    name: 'config',
    group: 'tools',
    summary: 'print the settings as they are in effect, secrets masked',
    examples: ['node-ledger config'],
    load: async () => (await import('../service/config.ts')).config,
  },
  {
    name: 'keys new',
    group: 'tools',
    summary: 'make a key for the minter, the distributor or the deployer, and print its address',
    details: `Written as an encrypted keystore (Web3 Secret Storage, version 3), which geth and most wallets read. The password is asked
for, or read from a file. The key itself is never printed, and an existing file never overwritten.`,
    options: {
      out: { value: 'file', help: 'where to write it; must not exist', required: true },
      'password-file': { value: 'file', help: 'a file that holds the password, instead of being asked for it' },
      plain: { help: 'write the bare key, as MINTER_PRIVATE_KEY_FILE reads it; only its owner may read the file' },
    },
    examples: [
      'node-ledger keys new --out minter.json --password-file <password-file>',
      'node-ledger keys new --out distributor.key --plain',
    ],
    load: async () => (await import('../service/keys.ts')).newKey,
  },
  {
    name: 'keys address',
    group: 'tools',
    summary: 'print the account of a key in a key management service, for MINTER_ADDRESS and the contract',
    details: `The key is named as in MINTER_KMS_KEY: of AWS KMS by its ARN, of Google Cloud KMS by the name of its version. Its curve is
secp256k1 (ECC_SECG_P256K1 for signing; EC_SIGN_SECP256K1_SHA256 with a hardware module). Who asks needs kms:GetPublicKey, or
cloudkms.cryptoKeyVersions.viewPublicKey; the settings of key management services say how they are let in.`,
    args: [{ name: 'key', help: 'the ARN or the name' }],
    examples: ['node-ledger keys address <kms-key>'],
    load: async () => (await import('../service/keys.ts')).keyAddress,
  },
]
