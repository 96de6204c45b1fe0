// Writes the files that prove that the code on chain comes from these sources: the compiler's standard-JSON input, the constructor's
// arguments, and the commands for Etherscan and Sourcify. It must never compile or send anything: the input is committed beside the
// bytecode, and a test compiles the one to the other.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { factoryRuntimeHash } from '../../chain/factory/bytecode.ts'
import { type DeployedContract, type FactorySetup, factoryConstructorArguments } from '../../chain/factory/deploy.ts'

const VERIFICATION = new URL('../../chain/factory/verification.json', import.meta.url)

/** The files that were written, and what to do with them. */
export interface VerificationKit {
  readonly directory: string
  readonly compilerVersion: string
  readonly contractIdentifier: string
  /** ABI-encoded, without `0x`. */
  readonly constructorArguments: string
  /** keccak256 of the code on chain. */
  readonly codeHash: string
  /** The same with zeros at the immutables: one value for every factory of this version. */
  readonly runtimeHash: string
  readonly commands: { readonly etherscan: string; readonly sourcify: string }
}

/** Writes the kit of a factory that was deployed into a directory, which is made where it is not there. */
export function writeVerificationKit(
  directory: string,
  chainId: number,
  { address, txHash, codeHash }: DeployedContract,
  setup: FactorySetup,
): VerificationKit {
  const { compilerVersion, contractIdentifier, stdJsonInput } = JSON.parse(readFileSync(VERIFICATION, 'utf8'))
  const constructorArguments = factoryConstructorArguments(setup)
  const home = resolve(directory)
  mkdirSync(home, { recursive: true })
  const write = (name: string, value: unknown) =>
    writeFileSync(join(home, name), typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`)
  write('standard-input.json', stdJsonInput)
  write('constructor-arguments.txt', constructorArguments)
  write('sourcify.json', { stdJsonInput, compilerVersion, contractIdentifier, creationTransactionHash: txHash })
  const commands = {
    etherscan: [
      `curl 'https://api.etherscan.io/v2/api?chainid=${chainId}&module=contract&action=verifysourcecode&apikey='"$ETHERSCAN_API_KEY"`,
      `--data-urlencode sourceCode@${join(home, 'standard-input.json')}`,
      `--data-urlencode constructorArguments@${join(home, 'constructor-arguments.txt')}`,
      `-d codeformat=solidity-standard-json-input -d contractaddress=${address}`,
      `-d contractname=${contractIdentifier} --data-urlencode compilerversion=v${compilerVersion}`,
    ].join(' \\\n  '),
    sourcify: [
      `curl https://sourcify.dev/server/v2/verify/${chainId}/${address}`,
      `-H 'content-type: application/json' --data-binary @${join(home, 'sourcify.json')}`,
    ].join(' \\\n  '),
  }
  write('commands.txt', `# Etherscan\n${commands.etherscan}\n\n# Sourcify\n${commands.sourcify}\n`)
  const hashes = { codeHash, runtimeHash: factoryRuntimeHash }
  return { directory: home, compilerVersion, contractIdentifier, constructorArguments, ...hashes, commands }
}
