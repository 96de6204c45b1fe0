// Holds every finding of forge's lint in contracts/src: each line stands here beside the reason why it stays. A line that lint finds and
// this table lacks fails, and so does one that lint finds no more.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { forge } from '../tools/forge.ts'

const SEVERITIES = ['high', 'med', 'low', 'info', 'gas', 'code-size']

/** Why it stays, then lint, file and line. */
const JUDGED: Record<string, readonly string[]> = {
  'The other bits of the word are other fields: the cast masks them.': [
    'unsafe-typecast NodeAccounts.sol: if (address(uint160(word)) != msg.sender) revert NotNodeOwner();',
    'unsafe-typecast NodeAccounts.sol: nodeOwner = address(uint160(word));',
    'unsafe-typecast NodeAccounts.sol: return (word >> COHORT_SHIFT, uint80(word >> PER_NODE_SHIFT));',
    'unsafe-typecast NodeAccounts.sol: return keccak256(abi.encode(id, address(uint160(word)), cohortId, credited, withdrawn));',
    'unsafe-typecast NodeFactory.sol: node.owner = address(uint160(word));',
    'unsafe-typecast Packed.sol: return uint16(Cohort.unwrap(cohort) >> TIER);',
    'unsafe-typecast Packed.sol: return uint32(Cohort.unwrap(cohort) >> INTERVAL);',
    'unsafe-typecast Packed.sol: return uint32(Cohort.unwrap(cohort) >> SIZE);',
    'unsafe-typecast Packed.sol: return uint40(Cohort.unwrap(cohort) >> NEXT_DUE);',
    'unsafe-typecast Packed.sol: return uint48(Books.unwrap(books) >> ROUND);',
    'unsafe-typecast Packed.sol: return uint96(Books.unwrap(books) >> WITHDRAWN);',
    'unsafe-typecast PackedKeys.sol: return uint16(MinterWord.unwrap(word) >> COHORTS);',
    'unsafe-typecast PackedKeys.sol: return uint32(MinterWord.unwrap(word) >> LAST_ID);',
    'unsafe-typecast PackedKeys.sol: return uint32(MinterWord.unwrap(word) >> NODES);',
    'unsafe-typecast PackedKeys.sol: return uint48(DistributorWord.unwrap(word) >> FLOOR);',
  ],
  'A credit is a difference modulo 2^80 (check_expel_…, check_credit).': [
    'unsafe-typecast NodeAccounts.sol: _setExtraData(id, uint96(_extraDataOf(0, uint80(0 - credited))));',
    'unsafe-typecast NodeAccounts.sol: return uint80(current.perNode() - perNodeAtMint);',
  ],
  'WindowOutOfRange has refused what is beyond 40 bits, and a new end is before the former one.': [
    'unsafe-typecast NotOwedWindows.sol: _windows.push(Window(uint40(from), uint40(until)));',
    'unsafe-typecast NotOwedWindows.sol: _windows.push(Window(uint40(from), uint40(until)));',
    'unsafe-typecast NotOwedWindows.sol: last.until = uint40(until);',
  ],
  'A digit: at most 57.': ['unsafe-typecast NodeMetadata.sol: digits[--length] = bytes1(uint8(48 + value % 10));'],
  'A one at the place of the field. Lint takes the arguments for swapped.': [
    'incorrect-shift Packed.sol: return Books.wrap(Books.unwrap(books) + total + (1 << ROUND));',
    'incorrect-shift Packed.sol: return Books.wrap(paused ? others | (1 << PAUSED) : others);',
    'incorrect-shift Packed.sol: return Cohort.wrap(Cohort.unwrap(cohort) + (1 << SIZE));',
    'incorrect-shift Packed.sol: return Cohort.wrap(Cohort.unwrap(cohort) - (1 << SIZE));',
  ],
  'Turns, windows and calls go by block time, which a proposer moves by seconds. On live chains an interval is an hour or more.':
    [
      'block-timestamp ForkGuard.sol: if (block.timestamp > validUntil) revert Expired();',
      'block-timestamp NodeFactory.sol: if (!current.isOpen() || current.nextDue() > block.timestamp) return current;',
      'block-timestamp NodeFactory.sol: if (changed.size() != 0 && changed.nextDue() + shorter <= block.timestamp) revert TurnsOverdue();',
      'block-timestamp NodeFactory.sol: if (credited != 0 && block.timestamp >= use.mintedAt() + _expulsionPeriodOf(former)) continue;',
      'block-timestamp NodeFactory.sol: if (due + (turns - 1) * interval > block.timestamp) revert TurnNotDue();',
      'block-timestamp NotOwedWindows.sol: if (until < block.timestamp) until = block.timestamp;',
    ],
  'A type and its functions belong together.': [
    'multi-contract-file Packed.sol: library BooksLib {',
    'multi-contract-file Packed.sol: library Cohorts {',
    'multi-contract-file Packed.sol: library Supplies {',
    'multi-contract-file Packed.sol: library Uses {',
    'multi-contract-file PackedKeys.sol: library DistributorWords {',
    'multi-contract-file PackedKeys.sol: library MinterWords {',
  ],
  'Two fields, in the order of the struct.': [
    'named-struct-fields NodeFactory.sol: Minting memory minting = Minting(TIERS, Supply.wrap(0));',
    'named-struct-fields NotOwedWindows.sol: _windows.push(Window(uint40(from), uint40(until)));',
  ],
  'The name is that of a function of INodeFactory.': [
    'screaming-snake-case-immutable NodeFactory.sol: uint256 public immutable expulsionPeriod;',
    'screaming-snake-case-immutable NodeFactory.sol: uint256 public immutable leastInterval;',
    'screaming-snake-case-immutable NodeLists.sol: uint256 public immutable maxPerWallet;',
  ],
  'A read, which costs nobody gas.': [
    'asm-keccak256 NodeAccounts.sol: return keccak256(abi.encode(id, address(uint160(word)), cohortId, credited, withdrawn));',
  ],
  'One condition. A function of its own would cost each call gas, and the code is short of its limit by 4,500 bytes.': [
    'unwrapped-modifier-logic HotKeys.sol: modifier onlyMinter() {',
    'unwrapped-modifier-logic TwoStepOwner.sol: modifier onlyOwner() {',
  ],
}

interface Finding {
  code: { code: string }
  spans: [{ file_name: string; text: [{ text: string }] }]
}

it('each line that lint finds is judged, and nothing is judged that it does not find', async () => {
  const { output } = await forge(['lint', 'src', '--json', '--severity', ...SEVERITIES], { quiet: true })
  const found = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Finding)
    .map(({ code, spans: [{ file_name, text }] }) => {
      return `${code.code} ${file_name.split('/').at(-1)}: ${text[0].text.trim()}`
    })
  assert.deepEqual(found.sort(), Object.values(JUDGED).flat().sort())
})
