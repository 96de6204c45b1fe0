import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { keccak256, toFunctionSelector } from 'viem'
import { factoryBytecode } from '../../src/chain/factory/bytecode.ts'
import { developmentAccount } from '../../src/domain/development.ts'
import { startTestChain, type TestChain, whileMining } from '../support/anvil.ts'
import { runHere } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const OWNER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const MINTER = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'
const DISTRIBUTOR = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB'
const KEYS = ['--owner', OWNER, '--minter', MINTER, '--distributor', DISTRIBUTOR]
const ROLES = [...KEYS, '--min-wei', '0.0005ether']
/** A secret key, and a publicly known one. */
const OWN_KEY = `0x${'8f3c21d5e6b7a904'.repeat(4)}`
const KNOWN_KEY = developmentAccount(0).privateKey

let chain: TestChain
before(async () => {
  chain = await startTestChain()
})
after(() => chain.stop())

/** Runs the command while blocks are mined. `typed`: a person's input at a terminal. */
async function run(argv: string[], env: NodeJS.ProcessEnv, typed?: string) {
  return await whileMining(chain, () => runHere(['deploy', ...argv], env, typed))
}

/** The request that a command sends to an explorer, by the real curl, to the test's server in the explorer's place. */
async function sentBy(command: string): Promise<{ url: URL; body: string }> {
  let sent: { url: URL; body: string } | null = null
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    sent = { url: new URL(request.url ?? '', 'http://explorer'), body: Buffer.concat(parts).toString() }
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const here = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await promisify(execFile)('sh', ['-c', command.replace(/https:\/\/[\w.]+/, here)], {
    env: { ...process.env, ETHERSCAN_API_KEY: 'a-key' },
  })
  server.close()
  return sent ?? assert.fail('nothing was sent')
}

const source = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const view = (name: string) => toFunctionSelector(`${name}()`)
const call = async (to: string, name: string) => chain.rpc<string>('eth_call', [{ to, data: view(name) }, 'latest'])

describe('on its own chain', () => {
  test('it shows what it will do, deploys, and prints the settings alone on stdout', async () => {
    const { code, out, err } = await run([...ROLES, '--rpc-url', chain.rpcUrl, '--yes'], {
      DEPLOYER_PRIVATE_KEY: KNOWN_KEY,
    })
    assert.equal(code, 0, err)
    const settings = Object.fromEntries(
      out
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/s)),
    )
    assert.deepEqual(Object.keys(settings), ['CHAIN_ID', 'FACTORY_ADDRESS', 'START_BLOCK', 'RPC_URL'])
    assert.deepEqual([settings.CHAIN_ID, settings.RPC_URL], ['31337', chain.rpcUrl])
    assert.equal(BigInt(await call(settings.FACTORY_ADDRESS, 'owner')), BigInt(OWNER))
    assert.equal(BigInt(await call(settings.FACTORY_ADDRESS, 'maxPerWallet')), 20n)
    assert.equal(BigInt(await call(settings.FACTORY_ADDRESS, 'expulsionPeriod')), 604_800n)
    const [floorGwei] = (await call(settings.FACTORY_ADDRESS, 'bounds')).slice(2).match(/.{64}/g) ?? []
    assert.equal(BigInt(`0x${floorGwei}`), 250_000n, 'half of the least turn')
    assert.match(err, /costs at most +0\.\d+ ETH/)
    assert.match(err, new RegExp(`deployer +${developmentAccount(0).address}, has [\\d.]+ ETH`, 'i'))
    assert.ok(!(out + err).includes(KNOWN_KEY.slice(2)))
  })

  test('a person at a terminal gets a question, and may decline', async () => {
    const args = [...ROLES, '--rpc-url', chain.rpcUrl]
    const env = { DEPLOYER_PRIVATE_KEY: KNOWN_KEY }
    const declined = await run(args, env, 'n')
    assert.deepEqual([declined.code, declined.out], [1, ''])
    assert.match(declined.err, /Deploy\? \[y\/N\]/)
    const nonce = () => chain.rpc<string>('eth_getTransactionCount', [developmentAccount(0).address, 'latest'])
    const before = await nonce()
    assert.equal((await run(args, env)).code, 2)
    assert.equal(await nonce(), before)
    assert.equal((await run(args, env, 'y')).code, 0)
  })

  test('the key may come from a file, the RPC from RPC_URL, and the answer as JSON', async () => {
    const file = join(temporaryDirectory(), 'key')
    writeFileSync(file, `${KNOWN_KEY.slice(2)}\n`)
    const env = { DEPLOYER_PRIVATE_KEY_FILE: file, RPC_URL: chain.rpcUrl }
    const figures = ['--max-per-wallet', '256', '--nodes', '7', '--cohorts', '9', '--least-interval', '60']
    const { code, out } = await run([...ROLES, ...figures, '--yes', '--json'], env)
    assert.equal(code, 0)
    const { chainId, factoryAddress, startBlock, txHash } = JSON.parse(out)
    assert.equal(chainId, 31337)
    assert.equal(BigInt(await call(factoryAddress, 'maxPerWallet')), 256n)
    assert.equal(BigInt(await call(factoryAddress, 'minter')), BigInt(MINTER))
    assert.equal(BigInt(await call(factoryAddress, 'leastInterval')), 60n)
    assert.match(await call(factoryAddress, 'budget'), /^0x0{63}70{63}9$/)
    const { blockNumber } = await chain.rpc<{ blockNumber: string }>('eth_getTransactionReceipt', [txHash])
    assert.equal(Number(blockNumber), startBlock)
  })

  test('the commands that it prints send explorers the source of the code that is there', async () => {
    const { code, out } = await run([...ROLES, '--rpc-url', chain.rpcUrl, '--yes', '--json'], {
      DEPLOYER_PRIVATE_KEY: KNOWN_KEY,
    })
    assert.equal(code, 0)
    const { factoryAddress, txHash, codeHash, verify } = JSON.parse(out)
    assert.match(verify.etherscan, /https:\/\/api\.etherscan\.io\//)
    const etherscan = await sentBy(verify.etherscan)
    assert.equal(etherscan.url.pathname, '/v2/api')
    assert.deepEqual(Object.fromEntries(etherscan.url.searchParams), {
      chainid: '31337',
      module: 'contract',
      action: 'verifysourcecode',
      apikey: 'a-key',
    })
    const form = new URLSearchParams(etherscan.body)
    assert.equal(form.get('codeformat'), 'solidity-standard-json-input')
    const input = JSON.parse(form.get('sourceCode') ?? '')
    assert.equal(input.sources['src/NodeFactory.sol'].content, source('contracts/src/NodeFactory.sol'))
    const [, version] = /^v(\d+\.\d+\.\d+)\+commit\.[0-9a-f]{8}$/.exec(form.get('compilerversion') ?? '') ?? []
    assert.ok(input.sources['src/NodeFactory.sol'].content.includes(`pragma solidity ${version};`))
    assert.equal(form.get('contractaddress'), factoryAddress)
    assert.equal(form.get('contractname'), 'src/NodeFactory.sol:NodeFactory')
    const tx = await chain.rpc<{ input: string }>('eth_getTransactionByHash', [txHash])
    assert.equal(tx.input, factoryBytecode + form.get('constructorArguments'))
    assert.equal(codeHash, keccak256(await chain.rpc<`0x${string}`>('eth_getCode', [factoryAddress, 'latest'])))

    assert.match(verify.sourcify, /https:\/\/sourcify\.dev\//)
    const sourcify = await sentBy(verify.sourcify)
    assert.equal(sourcify.url.pathname, `/server/v2/verify/31337/${factoryAddress}`)
    const body = JSON.parse(sourcify.body)
    assert.deepEqual(Object.keys(body), ['compilerVersion', 'contractIdentifier', 'stdJsonInput'])
    assert.deepEqual(body.stdJsonInput, input)
  })

  test('a deployer without the money is refused before anything is sent', async () => {
    const { code, out, err } = await run([...ROLES, '--rpc-url', chain.rpcUrl, '--yes'], {
      DEPLOYER_PRIVATE_KEY: OWN_KEY,
    })
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, /has 0 ETH/)
    assert.match(err, /too little ether/)
  })
})

test('elsewhere, accounts whose keys everybody knows are refused', async () => {
  await chain.rpc('anvil_setChainId', [5])
  try {
    const args = ['--owner', developmentAccount(4).address, ...ROLES.slice(2), '--rpc-url', chain.rpcUrl, '--yes']
    const { code, out, err } = await run(args, { DEPLOYER_PRIVATE_KEY: KNOWN_KEY })
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, /The deployer 0x\w+ is a development account/)
    assert.match(err, /The owner 0x\w+ is a development account/)
    assert.doesNotMatch(err, /The minter/)
  } finally {
    await chain.rpc('anvil_setChainId', [31337])
  }
})

test('a chain that does not answer is an error of one line, without the key in the URL', async () => {
  const args = [...ROLES, '--rpc-url', 'http://127.0.0.1:9/secret-path', '--yes']
  const { code, err } = await run(args, { DEPLOYER_PRIVATE_KEY: KNOWN_KEY })
  assert.equal(code, 3)
  assert.match(err, /^Not deployed.*127\.0\.0\.1/)
  assert.doesNotMatch(err, /secret-path|at .*\.ts/)
})

test('reports every mistake of the call together, and repeats no key', async () => {
  const { code, err } = await run(
    [
      ...['--owner', OWNER.replace('aA', 'aa'), '--max-per-wallet', '257', '--rpc-url', 'ws://x'],
      ...[
        '--nodes',
        '4294967296',
        '--cohorts',
        '1.5',
        '--floor-gwei',
        '2.5',
        '--ceiling-gwei',
        'x',
        '--least-interval',
        '0',
      ],
    ],
    {
      DEPLOYER_PRIVATE_KEY: `${OWN_KEY}0`,
    },
  )
  assert.equal(code, 2)
  for (const name of [
    '--owner',
    '--minter',
    '--distributor',
    '--max-per-wallet',
    '--nodes',
    '--cohorts',
    '--floor-gwei',
    '--ceiling-gwei',
    '--least-interval',
    '--rpc-url',
    'DEPLOYER_PRIVATE_KEY',
  ]) {
    assert.match(err, new RegExp(`^${name}: `, 'm'))
  }
  assert.ok(!err.includes(OWN_KEY.slice(2)))
})

describe('refused before any request to the chain', () => {
  const good = { DEPLOYER_PRIVATE_KEY: OWN_KEY }
  const rpc = ['--rpc-url', 'http://127.0.0.1:9']
  const rows: [string, string[], NodeJS.ProcessEnv, RegExp][] = [
    [
      'an unknown argument',
      [...ROLES, ...rpc, '--private-key', OWN_KEY],
      good,
      /--private-key: there is no such option/,
    ],
    ['one account for both roles', [...ROLES.slice(0, 4), '--distributor', MINTER, ...rpc], good, /two accounts/],
    ['a role for no one', [...ROLES.slice(2), '--owner', `0x${'0'.repeat(40)}`, ...rpc], good, /is the zero address/],
    ['no key', [...ROLES, ...rpc], {}, /DEPLOYER_PRIVATE_KEY: set it/],
    ['two keys', [...ROLES, ...rpc], { ...good, DEPLOYER_PRIVATE_KEY_FILE: '/x' }, /both set/],
    ['a key file that is missing', [...ROLES, ...rpc], { DEPLOYER_PRIVATE_KEY_FILE: '/nowhere' }, /ENOENT/],
    [
      'a floor above the ceiling',
      [...ROLES, ...rpc, '--floor-gwei', '2', '--ceiling-gwei', '1'],
      good,
      /less than the floor/,
    ],
    ['no floor, and nothing that it is made of', [...KEYS, ...rpc], good, /--min-wei: give the least/],
    ['a rate of none', [...ROLES, ...rpc, '--lowest-bps', '0'], good, /--lowest-bps: must be a whole number/],
    ['a window beyond a week', [...ROLES, ...rpc, '--expulsion-period', '604801'], good, /0 to 604800/],
    ['a cap of none', [...ROLES, ...rpc, '--max-per-wallet', '0'], good, /1 to 256/],
  ]
  for (const [what, argv, env, words] of rows) {
    test(what, async () => {
      const { code, err } = await run(argv, env)
      assert.equal(code, 2)
      assert.match(err, words)
    })
  }
})

test('help goes to stdout', async () => {
  const { code, out } = await run(['--help'], {})
  assert.equal(code, 0)
  assert.match(out, /^Usage: node-ledger deploy/)
})
