// The address of a caller: the socket's, or the nearest hop behind our proxies, and nothing that a caller made up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientFinder } from '../../src/http/edge/client-address.ts'

const direct = clientFinder([])
const behind = clientFinder(['10.0.0.0/8', '192.168.1.1', 'fd00::/8', '2001:db8:ffff::/48', '2001:db8::9'])
const same = (a: unknown, b: unknown) => assert.deepEqual(a, b)
const from = (address: string) => direct(address, '')

test('the caller is the socket’s address under any headers if no proxy is trusted', () => {
  same(direct('198.51.100.7', '1.2.3.4'), from('198.51.100.7'))
  same(behind('198.51.100.7', '1.2.3.4'), from('198.51.100.7'))
  same(behind('2001:db8::7', '1.2.3.4'), from('2001:db8::7'))
  same(from('198.51.100.7'), '198.51.100.7')
})

test('all callers without an address are one caller', () => {
  for (const text of ['', 'unknown', '1.2.3', '1.2.3.4:', ':::']) same(from(text), from('0.0.0.0'))
})

test('an IPv4 address and its IPv6 mapping are one caller, in any spelling', () => {
  for (const spelling of ['::ffff:1.2.3.4', '::ffff:102:304', '0:0:0:0:0:ffff:1.2.3.4', '::FFFF:1.2.3.4'])
    same(from(spelling), from('1.2.3.4'))
  same(from('::ffff:255.254.253.252'), from('255.254.253.252'))
})

test('only the mapping is one: other addresses that end alike are callers of IPv6', () => {
  for (const address of ['::1.2.3.4', '::fffe:1.2.3.4', '::1:ffff:1.2.3.4']) same(from(address), '0:0:0:0')
  same(from('1::ffff:1.2.3.4'), '1:0:0:0')
  same(from('64:ff9b::1.2.3.4'), from('64:ff9b::102:304'))
})

test('a whole /64 is one caller, and the next another', () => {
  same(from('2001:db8:1:2::1'), from('2001:db8:1:2:ffff:ffff:ffff:ffff'))
  assert.notDeepEqual(from('2001:db8:1:2::1'), from('2001:db8:1:3::1'))
  same(from('fe80::1%eth0'), from('fe80::2'))
  assert.notDeepEqual(from('::1'), from('1::'))
  same(from('1:2:3::1.2.3.4'), '1:2:3:0')
  same(from('::3:4:5:6:1.2.3.4'), '0:0:3:4')
})

test('behind proxies the caller is the rightmost hop that is not trusted', () => {
  const expected = from('203.0.113.9')
  same(behind('10.1.1.1', '203.0.113.9'), expected)
  same(behind('10.1.1.1', '6.6.6.6, 203.0.113.9, 10.2.2.2'), expected)
  same(behind('::ffff:10.1.1.1', ' 6.6.6.6,203.0.113.9 ,192.168.1.1'), expected)
  same(behind('fd00::1', '1.1.1.1, 203.0.113.9:4711'), expected)
  same(behind('2001:db8::9', '1.1.1.1, 203.0.113.9, 2001:db8:ffff:1::1'), expected)
  same(behind('10.1.1.1', '[2001:db8::7]:443'), from('2001:db8::7'))
  same(behind('10.1.1.1', '[2001:db8::7]'), from('2001:db8::7'))
})

test('the caller is the last hop we know when the header holds no address, or trusted ones only', () => {
  same(behind('10.1.1.1', 'unknown'), from('10.1.1.1'))
  same(behind('10.1.1.1', '1.2.3.4, <script>, 10.3.3.3'), from('10.3.3.3'))
  same(behind('10.1.1.1', '10.9.9.9, 10.3.3.3'), from('10.9.9.9'))
  same(behind('10.1.1.1', ''), from('10.1.1.1'))
})

test('a text that is nearly an address is none', () => {
  for (const hop of [
    'x[2001:db8::7]',
    '[2001:db8::7]x',
    '[2001:db8::7]:',
    '[2001:db8::7]:443443',
    '[2001:db8::7]:https',
    '[]',
    'x1.2.3.4:80',
    '1.2.3.4:',
    '1.2.3.4:808080',
    '1.2.3.4:80x',
    '2001:db8::7]',
  ])
    same([hop, behind('10.1.1.1', hop)], [hop, from('10.1.1.1')])
})

test('a network is trusted as far as it reaches, and an address alone', () => {
  const wide = clientFinder(['10.1.0.0/16', '192.0.2.8/32', '2001:db8::/128', 'fe80::/10'])
  const believes = (peer: string) => wide(peer, '1.2.3.4') === '1.2.3.4'
  for (const peer of ['10.1.255.1', '192.0.2.8', '2001:db8::', 'fe80::1']) assert.ok(believes(peer), peer)
  for (const peer of ['10.2.0.1', '192.0.2.9']) assert.ok(!believes(peer), peer)
  assert.notDeepEqual(clientFinder(['2001:db8::/128'])('2001:db8::1', '1.2.3.4'), from('1.2.3.4'))
})

test('only networks can be trusted', () => {
  for (const network of [
    ...['10.0.0.0/33', '10.0.0/8', 'x', '', '::/129', '10.0.0.0/8/8', '10.0.0.0/-1', 'fd00::/ 8', '/8', '10.0.0.0/'],
    ...['10.0.0.0/a8', '10.0.0.0/8a', '10.0.0.0/0008', 'x/8', 'x/8/8', '10.0.0.0//8'],
  ])
    assert.throws(() => clientFinder([network]), { name: 'RangeError', message: `not a network: ${network}` })
})
