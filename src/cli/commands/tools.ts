// The commands that need neither service nor ledger.
import type { Command } from '../command.ts'

export const TOOLS: readonly Command[] = [
  {
    name: 'config',
    group: 'tools',
    summary: 'print the settings in effect, secrets masked',
    examples: ['node-ledger config'],
    load: async () => (await import('../service/config.ts')).config,
  },
  {
    name: 'keys new',
    group: 'tools',
    summary: 'make a key for the minter, the distributor or the deployer, and print its address',
    details: `Writes the key as MINTER_PRIVATE_KEY_FILE reads it; only you may read the file. Never prints the key, and never overwrites
a file.`,
    options: {
      out: { value: 'file', help: 'the file to write; must not exist', required: true },
    },
    examples: ['node-ledger keys new --out minter.key'],
    load: async () => (await import('../service/keys.ts')).newKey,
  },
  {
    name: 'keys address',
    group: 'tools',
    summary: 'print the account of a key in a key management service, for MINTER_ADDRESS and the contract',
    details: `Give the key as in MINTER_KMS_KEY: in AWS KMS by its ARN, in Google Cloud KMS by the name of its version. Its curve must be
secp256k1 (ECC_SECG_P256K1 for signing; EC_SIGN_SECP256K1_SHA256 with a hardware module). The caller needs kms:GetPublicKey or
cloudkms.cryptoKeyVersions.viewPublicKey. Its vendor's client must be installed, and finds its credentials itself.`,
    args: [{ name: 'key', help: 'the ARN or the name' }],
    examples: ['node-ledger keys address <kms-key>'],
    load: async () => (await import('../service/keys.ts')).keyAddress,
  },
]
