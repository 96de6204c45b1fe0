// Owns the hand-made mutants: one small wrong change each, which the tests must notice. It must never touch the sources
// themselves: each mutant lives in a copy.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { CONTRACTS_DIR } from './compile.ts'
import { forge } from './forge.ts'

/** `find` stands exactly once in the file; `replace` is what it becomes. */
type Mutant = { file: string; find: string; replace: string }
export type Verdict = { mutant: string; caught: boolean; how: string }

/** Each forge takes a core and some memory. */
const WORKERS_MAX = 2

const change =
  (file: string) =>
  (find: string, replace = ''): Mutant => ({ file, find, replace })
const factory = change('NodeFactory.sol')
const accounts = change('NodeAccounts.sol')
const keys = change('HotKeys.sol')
const packedKeys = change('PackedKeys.sol')
const lists = change('NodeLists.sol')
const owners = change('TwoStepOwner.sol')
const windows = change('NotOwedWindows.sol')
const guards = change('ForkGuard.sol')
const metadata = change('NodeMetadata.sol')
const packed = change('Packed.sol')

/** The same function, open to everyone. */
const opened = (mutant: (find: string, replace: string) => Mutant, signature: string) =>
  mutant(`${signature} external onlyOwner`, `${signature} external`)

export const MUTANTS: Mutant[] = [
  // Who may.
  keys('if (msg.sender != _minter.key()) revert NotMinter();'),
  factory('if (msg.sender != distributor_.key()) revert NotDistributor();'),
  factory('msg.sender != distributor_.key()', 'msg.sender != distributor_.key() && msg.sender != _minter.key()'),
  accounts('if (address(uint160(word)) != msg.sender) revert NotNodeOwner();'),
  owners('if (msg.sender != _owner) revert NotOwner();'),
  owners('msg.sender != _owner)', 'msg.sender != _owner && msg.sender != _pendingOwner)'),
  opened(keys, 'function setMinter(address newMinter, uint256 nodes, uint256 cohorts)'),
  keys('        external\n        onlyOwner\n', '        external\n'),
  opened(keys, 'function setDistributor(address newDistributor, uint256 floorGwei, uint256 ceilingGwei)'),
  opened(keys, 'function setBounds(address distributor_, uint256 floorGwei, uint256 ceilingGwei)'),
  opened(keys, 'setSwapsAllowance(uint256 allowance)'),
  opened(factory, 'sweep(address to, uint256 amount)'),
  opened(factory, 'expel(bytes32[] calldata refs)'),
  opened(factory, 'function pause()'),
  opened(factory, 'function unpause()'),
  opened(factory, 'setInterval(uint256 cohortId, uint256 interval)'),
  opened(windows, 'addNotOwed(uint256 window, uint256 from, uint256 until)'),
  opened(windows, 'endNotOwed(uint256 window, uint256 until)'),
  opened(owners, 'function transferOwnership(address newOwner)'),
  factory('uint256 validUntil) external onlyMinter {', 'uint256 validUntil) external {'),
  factory('        external\n        onlyMinter\n', '        external\n'),
  owners('if (msg.sender != _pendingOwner) revert NotPendingOwner();'),
  owners('if (owner_ == address(0)) revert ZeroOwner();'),
  owners('delete _pendingOwner;'),
  owners('        emit OwnershipTransferred(address(0), owner_);\n'),
  // Pause, time and fork guard.
  factory(
    'if (_books.isPaused()) revert IsPaused();\n        _requireInTime(validUntil);\n        MinterWord',
    '_requireInTime(validUntil);\n        MinterWord',
  ),
  factory(
    'if (_books.isPaused()) revert IsPaused();\n        _requireInTime(validUntil);\n        _requireFork',
    '_requireInTime(validUntil);\n        _requireFork',
  ),
  factory('if (books.isPaused()) revert IsPaused();'),
  factory('_requireInTime(validUntil);\n        MinterWord', 'MinterWord'),
  factory(
    '_requireInTime(validUntil);\n        _requireFork(guardBlock, guardHash);\n        MinterWord',
    '_requireFork(guardBlock, guardHash);\n        MinterWord',
  ),
  factory(
    '_requireInTime(validUntil);\n        _requireFork(guardBlock, guardHash);\n        if (round_',
    '_requireFork(guardBlock, guardHash);\n        if (round_',
  ),
  guards('block.timestamp > validUntil', 'block.timestamp >= validUntil'),
  factory('_requireFork(guardBlock, guardHash);\n        MinterWord', 'MinterWord'),
  factory('_requireFork(guardBlock, guardHash);\n        if (round_', 'if (round_'),
  guards('guardHash != 0 && _hashOf', '_hashOf'),
  guards('_hashOf(guardBlock) != guardHash', '_hashOf(guardBlock) == guardHash'),
  guards('_hashOf(guardBlock) != guardHash', '_hashOf(guardBlock) == 0'),
  guards('if (blockHash != 0) return blockHash;'),
  guards('and(answered, eq(returndatasize(), 0x20))', 'answered'),
  guards('and(answered, eq(returndatasize(), 0x20))', 'eq(returndatasize(), 0x20)'),
  guards('eq(returndatasize(), 0x20)', 'gt(returndatasize(), 0x1f)'),
  guards('0x0000F90827F1C53a10cb7A02335B175320002935', '0x0AAE40965E6800cD9b1f4b05ff21581047E3F91e'),
  // Opening.
  factory('if (first != word.lastCohort() + 1) revert WrongCohort();'),
  factory('if (count > type(uint16).max - word.lastCohort()) revert CohortNumbersExhausted();'),
  factory('if (count > word.cohorts()) revert CohortBudgetExceeded();'),
  factory('count > word.cohorts()', 'count > word.cohorts() + 1'),
  factory('_openCohort(first + i,', '_openCohort(first,'),
  factory('_minter = word.opened(count);'),
  factory('tier > type(uint16).max || '),
  factory('firstDue == 0 || '),
  factory(' || firstDue > type(uint40).max'),
  factory('interval < leastInterval || '),
  factory('interval < leastInterval', 'interval <= leastInterval'),
  factory(' || interval > type(uint32).max) revert', ') revert'),
  factory('_requireInterval(interval);\n        _cohorts', '_cohorts'),
  factory('setup.leastInterval == 0 || '),
  factory(' || setup.leastInterval > type(uint32).max'),
  // Minting.
  factory('if (orders.length > type(uint32).max - former) revert NodeIdsExhausted();'),
  factory('if (taken != 0) {', 'if (false) {'),
  factory('if (_ownerOf(taken) != to) emit', 'emit'),
  factory('if (_ownerOf(taken) != to) emit RefTaken(ref, taken, to);'),
  factory('_nodeOfRef[ref] = id;'),
  factory('if (_isImpossible(to)) return _skip(ref, RECIPIENT_IMPOSSIBLE);'),
  factory('if (_countIn(list) >= maxPerWallet) return _skip(ref, WALLET_FULL);'),
  factory('_countIn(list) >= maxPerWallet', '_countIn(list) > maxPerWallet'),
  factory('if (!joined.isOpen()) return _skip(ref, COHORT_CLOSED);'),
  factory('if (id > lastInBudget) return _skip(ref, BUDGET_SPENT);'),
  factory('id > lastInBudget', 'id >= lastInBudget'),
  factory(
    'if (!joined.isOpen()) return _skip(ref, COHORT_CLOSED);\n        if (id > lastInBudget) return _skip(ref, BUDGET_SPENT);',
    'if (id > lastInBudget) return _skip(ref, BUDGET_SPENT);\n        if (!joined.isOpen()) return _skip(ref, COHORT_CLOSED);',
  ),
  factory(
    'if (_isImpossible(to)) return _skip(ref, RECIPIENT_IMPOSSIBLE);\n        uint256 list = _balanceWord(to);\n        if (_countIn(list) >= maxPerWallet) return _skip(ref, WALLET_FULL);\n        Cohort joined = _takingNodes(cohortId);\n        if (!joined.isOpen()) return _skip(ref, COHORT_CLOSED);',
    'uint256 list = _balanceWord(to);\n        Cohort joined = _takingNodes(cohortId);\n        if (!joined.isOpen()) return _skip(ref, COHORT_CLOSED);\n        if (_isImpossible(to)) return _skip(ref, RECIPIENT_IMPOSSIBLE);\n        if (_countIn(list) >= maxPerWallet) return _skip(ref, WALLET_FULL);',
  ),
  factory('!current.isOpen() || current', 'current'),
  factory('current.nextDue() > block.timestamp', 'current.nextDue() >= block.timestamp'),
  factory('current.size() != 0 ? Cohort.wrap(0) : _rolled(current)', '_rolled(current)'),
  factory('Cohort.wrap(0) : _rolled(current)', 'Cohort.wrap(0) : current'),
  factory('_cohorts[cohortId] = joined.joined();'),
  factory('/ empty.interval() + 1;', '/ empty.interval();'),
  factory('_minter = word.minted(id - former);'),
  // Crediting.
  factory('if (round_ != books.round() + 1) revert WrongRound();'),
  factory('if (credits.length == 0) revert EmptyRound();'),
  factory('if (entry.paid > room) revert TooManyTurns();', 'if (entry.paid > TURNS_MAX) revert TooManyTurns();'),
  factory('TURNS_MAX = 2_000', 'TURNS_MAX = 2_001'),
  factory('if (msg.value != total) _spendSurplus(round_, total);'),
  factory('if (total > type(uint96).max - books.credited()) revert AmountTooLarge();'),
  factory('_books = books.afterRound(total);'),
  factory('if (size == 0) revert EmptyCohort();'),
  factory('if (current.lastRound() == round_) revert CohortTwiceInRound();'),
  factory('if (entry.firstDue != due) revert WrongTurn();'),
  factory('if (skipped > type(uint40).max) revert TurnNotDue();'),
  factory('if (turns == 0) revert NoTurns();'),
  factory('if (due + (turns - 1) * interval > block.timestamp) revert TurnNotDue();'),
  factory('(turns - 1) * interval > block.timestamp', '(turns - 1) * interval >= block.timestamp'),
  factory('due + (turns - 1) * interval > block.timestamp', 'due > block.timestamp'),
  factory('if (amount < distributor_.floorGwei() * 1 gwei * paid) revert AmountOutOfBounds();'),
  factory('distributor_.floorGwei() * 1 gwei * paid', 'distributor_.floorGwei() * 1 gwei'),
  factory('amount < distributor_', 'amount <= distributor_'),
  factory('if (amount > distributor_.ceilingGwei() * 1 gwei * paid) revert AmountOutOfBounds();'),
  factory('distributor_.ceilingGwei() * 1 gwei * paid', 'distributor_.ceilingGwei() * 1 gwei * turns'),
  factory('amount > distributor_', 'amount >= distributor_'),
  factory('if (amount > type(uint80).max - current.perNode()) revert AmountTooLarge();'),
  factory('_cohorts[entry.cohort] = current.credited(amount, turns * interval, round_);'),
  factory('turns * interval, round_', 'paid * interval, round_'),
  factory('_requireNotOwed(due, due + (skipped - 1) * interval);'),
  factory('_requireNotOwed(due, due + (skipped - 1) * interval)', '_requireNotOwed(due, due)'),
  factory(
    '_requireNotOwed(due, due + (skipped - 1)',
    '_requireNotOwed(due + (skipped - 1) * interval, due + (skipped - 1)',
  ),
  factory('emit TurnsSkipped(round_, entry.cohort, due, skipped);'),
  factory('if (paid != 0) emit', 'emit'),
  factory('due + skipped * interval, paid', 'due, paid'),
  factory('return amount * size;', 'return amount;'),
  factory('if (msg.value != 0) revert WrongValue();'),
  factory('if (total > allowance) revert AllowanceExceeded();'),
  factory('if (total > _surplus()) revert SurplusExceeded();'),
  factory('swapsAllowance = allowance - total;'),
  factory(
    'swapsAllowance = allowance - total;',
    'if (allowance != type(uint256).max) swapsAllowance = allowance - total;',
  ),
  factory('emit SurplusSpent(round_, total, allowance - total);'),
  // Windows.
  windows('if (window != count + 1) revert WrongWindow();'),
  windows('from >= until || '),
  windows(' || until > type(uint40).max'),
  windows('if (count != 0 && from < _windows[count - 1].until) revert WindowOutOfRange();'),
  windows('from < _windows[count - 1].until', 'from <= _windows[count - 1].until'),
  windows(
    'if (window == 0 || window != _windows.length) revert WrongWindow();',
    'if (window == 0 || window > _windows.length) revert WrongWindow();',
  ),
  windows('if (until < block.timestamp) until = block.timestamp;'),
  windows('if (until < last.from) until = last.from;'),
  windows('if (until >= last.until) revert WindowOutOfRange();'),
  windows('window.from <= first', 'window.from < first'),
  windows('window.from <= first && '),
  windows('i = _windows.length; i != 0; --i', 'i = _windows.length; i == _windows.length; --i'),
  windows('last < window.until', 'last <= window.until'),
  // Intervals.
  factory('if (!changed.isOpen()) revert CohortNotOpen();'),
  factory('_requireInterval(interval);\n        // Turns', '// Turns'),
  factory('changed.size() != 0 && '),
  factory('changed.nextDue() + shorter <= block.timestamp', 'changed.nextDue() + shorter < block.timestamp'),
  factory('interval < former ?', 'interval > former ?'),
  factory('_cohorts[cohortId] = changed.withInterval(interval);'),
  // Expelling.
  factory('if (cohortId == 0) continue;'),
  factory('if (former.perNode() != perNodeAtMint) continue;'),
  factory('_cohorts[cohortId] = former.left();'),
  factory('_setExtraData(id, 0);'),
  // Hot keys.
  keys('if (minter_ != word.key()) revert WrongKey();'),
  keys('if (distributor_ != former.key()) revert WrongKey();'),
  keys('_requireBudget(nodesMost, cohortsMost);'),
  keys('        _requireBudget(nodes, cohorts);\n        MinterWord', '        MinterWord'),
  keys('nodes > type(uint32).max || '),
  keys(' || cohorts > type(uint16).max'),
  keys('        _requireBounds(floorGwei, ceilingGwei);\n        _distributor', '        _distributor'),
  keys('        _requireBounds(floorGwei, ceilingGwei);\n        emit', '        emit'),
  keys('floorGwei > ceilingGwei || '),
  keys(' || ceilingGwei > type(uint48).max'),
  keys('most > left ? most - left : 0', 'most'),
  keys('more < room ? more : room', 'more'),
  packedKeys(' - (count << NODES)'),
  packedKeys(' - (count << COHORTS)'),
  packedKeys('(word.lastId() << LAST_ID) | '),
  packedKeys('\n                | (word.lastCohort() << LAST_COHORT)'),
  // Withdrawing.
  accounts(
    'if (_isImpossible(to)) revert ImpossibleRecipient();\n        if (amount == 0) revert ZeroAmount();',
    'if (amount == 0) revert ZeroAmount();',
  ),
  accounts('if (_isImpossible(to)) revert ImpossibleRecipient();\n        uint256 total;', 'uint256 total;'),
  accounts('if (amount == 0) revert ZeroAmount();'),
  accounts('if (amount > balance) revert BalanceExceeded();'),
  accounts('amount > balance)', 'amount >= balance)'),
  accounts(
    '_book(id, to, amount, totals);\n        _payOut(to, amount);',
    '_payOut(to, amount);\n        _book(id, to, amount, totals);',
  ),
  accounts('if (balance == 0) continue;'),
  accounts('if (total == 0) revert ZeroAmount();'),
  accounts('_withdrawn[id / TOTALS_PER_WORD] = totals;'),
  accounts('(id % TOTALS_PER_WORD) * TOTAL_BITS', '(id % 2) * TOTAL_BITS'),
  accounts('TOTALS_PER_WORD = 3', 'TOTALS_PER_WORD = 4'),
  accounts('TOTAL_BITS = 80', 'TOTAL_BITS = 79'),
  accounts('TOTAL_MASK = type(uint80).max', 'TOTAL_MASK = type(uint72).max'),
  accounts('uint80(word >> PER_NODE_SHIFT)', 'uint72(word >> PER_NODE_SHIFT)'),
  accounts('return perNode | (', 'return uint72(perNode) | ('),
  accounts('return (word >> COHORT_SHIFT, ', 'return ((word >> COHORT_SHIFT) & 0x7fff, '),
  accounts('_books = _books.afterWithdrawal(amount);'),
  accounts('if (!sent) revert SendFailed();'),
  accounts(
    '            sent := call(gas(), to, amount, 0, 0, 0, 0)\n',
    '            sent := call(gas(), to, amount, 0, 0, 0, 0)\n            returndatacopy(mload(0x40), 0, returndatasize())\n',
  ),
  accounts('to == address(0) || to', 'to'),
  accounts(' || to == address(this);', ';'),
  // The owner's ether.
  factory('if (amount > _surplus()) revert SurplusExceeded();'),
  factory('amount > _surplus()', 'amount > address(this).balance'),
  accounts('address(this).balance > owed ? address(this).balance - owed : 0', 'address(this).balance - owed'),
  accounts('return address(this).balance >= _books.owed();', 'return address(this).balance > _books.owed();'),
  // Reading and showing.
  factory('uint256 available = last - firstId + 1;', 'uint256 available = last - firstId;'),
  factory('if (firstId > last) return nodes;'),
  accounts('if (word == 0) revert TokenDoesNotExist();'),
  accounts('interfaceId == ERC5646 || '),
  accounts(
    '|| super.supportsInterface(interfaceId)',
    '|| (interfaceId != 0x01ffc9a7 && super.supportsInterface(interfaceId))',
  ),
  accounts(
    '|| super.supportsInterface(interfaceId)',
    '|| (interfaceId != 0x5b5e139f && super.supportsInterface(interfaceId))',
  ),
  accounts('abi.encode(id, address(uint160(word)), cohortId, credited', 'abi.encode(id, cohortId, credited'),
  accounts('cohortId, credited, withdrawn));', 'credited, withdrawn));'),
  accounts('cohortId, credited, withdrawn));', 'cohortId, credited));'),
  accounts('cohortId, credited, withdrawn));', 'cohortId, withdrawn));'),
  metadata('rest += 1 ether;'),
  metadata('while (rest % 10 == 0) {\n            rest /= 10;\n        }'),
  metadata('node.cohortId == 0 ? _trait("Cohort", "closed") : '),
  // Lists.
  lists('if (from == to) return;'),
  lists('if (to == address(this)) revert ImpossibleRecipient();'),
  lists('if (word & DECLINES_GIFTS != 0 && msg.sender != to) revert GiftDeclined();'),
  lists('word & DECLINES_GIFTS != 0 && msg.sender != to', 'word & DECLINES_GIFTS != 0'),
  lists('declined ? word | DECLINES_GIFTS : word', 'word | DECLINES_GIFTS'),
  lists('COUNT_MASK = DECLINES_GIFTS - 1', 'COUNT_MASK = LANE_MASK'),
  lists('if (count > maxPerWallet) revert WalletFull();'),
  lists('count > maxPerWallet', 'count >= maxPerWallet'),
  lists('_remove(from, id);\n    }', '}'),
  lists('if (last != id) _write(wallet, first, _find(wallet, first, id), last);'),
  lists(' & ~(LANE_MASK << shift)'),
  lists('| (id << shift);', '| (id << shift) | (lane > 250 ? uint256(1) << 255 : 0);'),
  lists('first & ~LANE_MASK', 'first'),
  lists(' & ~difference'),
  lists('maxPerWallet_ == 0 || '),
  lists('maxPerWallet_ > CAP_MAX', 'maxPerWallet_ > CAP_MAX + 1'),
  lists('first = _withLane(first, lane, id);', 'first |= id << (lane * LANE_BITS);'),
  lists('else _write(to, first, lane, id);'),
  lists('_setBalanceWord(to, first + 1);', '_setBalanceWord(to, first);'),
  lists('emit Transfer(address(0), to, id);'),
  lists('if (msg.value != 0) revert EtherRefused();\n        super', 'super'),
  lists('if (msg.value != 0) revert EtherRefused();\n    }', '}'),
  // Packing.
  packed('Cohort.unwrap(cohort) + (delay << NEXT_DUE)', 'Cohort.unwrap(cohort)'),
  packed(' + amount + (delay << NEXT_DUE)', ' + amount'),
  packed(' + (roundsSince << LAST_ROUND)'),
  packed(' & ~(uint256(type(uint32).max) << INTERVAL)'),
  packed(' & ~(uint256(1) << PAUSED)'),
  packed(' + (1 << ROUND)'),
]

/** Tries the mutants that hold `word`, a few at a time. `report` hears each verdict as it falls. */
export async function tryMutants(word: string, report: (verdict: Verdict) => void): Promise<Verdict[]> {
  const queue = MUTANTS.filter(({ file, find }) => `${file} ${find}`.includes(word))
  const verdicts: Verdict[] = []
  const workers = Math.min(WORKERS_MAX, availableParallelism())
  const work = async () => {
    const home = mkdtempSync(join(tmpdir(), 'mutants-'))
    try {
      copyContracts(home)
      for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
        const verdict = await tryMutant(join(home, 'contracts'), mutant)
        verdicts.push(verdict)
        report(verdict)
      }
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
  return verdicts
}

/**
 * With forge's cache, so that a mutant compiles only what it changes; and without the intermediate representation, which means the same
 * and takes four times as long.
 */
function copyContracts(home: string): void {
  for (const entry of ['foundry.toml', 'bin', 'src', 'test', 'proofs', 'out', 'cache/solidity-files-cache.json']) {
    cpSync(join(CONTRACTS_DIR, entry), join(home, 'contracts', entry), { recursive: true, preserveTimestamps: true })
  }
  const settings = join(home, 'contracts', 'foundry.toml')
  writeFileSync(settings, readFileSync(settings, 'utf8').replaceAll('via_ir = true', 'via_ir = false'))
  symlinkSync(join(CONTRACTS_DIR, '..', 'node_modules'), join(home, 'node_modules'))
}

async function tryMutant(directory: string, { file, find, replace }: Mutant): Promise<Verdict> {
  const path = join(directory, 'src', file)
  const source = readFileSync(path, 'utf8')
  const mutant = `${file}: ${find.replaceAll(/\s+/g, ' ')} -> ${replace.replaceAll(/\s+/g, ' ') || '(nothing)'}`
  if (source.split(find).length !== 2)
    return { mutant, caught: false, how: 'does not stand exactly once: mend the mutant' }
  try {
    writeFileSync(
      path,
      source.replace(find, () => replace),
    )
    return { mutant, ...(await judge(directory)) }
  } finally {
    writeFileSync(path, source)
  }
}

/** A mutant that does not compile proves nothing. */
async function judge(directory: string): Promise<{ caught: boolean; how: string }> {
  const args = ['test', '--threads', '1', '--fail-fast']
  const { code, output } = await forge(args, { directory, profile: 'light', quiet: true })
  if (output.includes('Compiler run failed')) {
    return { caught: false, how: `does not compile: mend the mutant\n${output}` }
  }
  if (code === 0) return { caught: false, how: 'survived' }
  const names = output.matchAll(/^(?:\[FAIL.*\]| (?=invariant_)) ?(\w+)\(/gm)
  const failing = [...new Set([...names].map((match) => match[1]))]
  return { caught: true, how: `caught by ${failing.length > 0 ? failing.slice(0, 3).join(', ') : 'forge'}` }
}
