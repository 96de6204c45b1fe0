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

const factory = (find: string, replace = ''): Mutant => ({ file: 'NodeFactory.sol', find, replace })
const lists = (find: string, replace = ''): Mutant => ({ file: 'NodeLists.sol', find, replace })
const owners = (find: string, replace = ''): Mutant => ({ file: 'TwoStepOwner.sol', find, replace })
const packed = (find: string, replace = ''): Mutant => ({ file: 'Packed.sol', find, replace })

export const MUTANTS: Mutant[] = [
  // Who may.
  factory('if (msg.sender != _minter) revert NotMinter();'),
  factory('if (msg.sender != _distributor) revert NotDistributor();'),
  factory('if (address(uint160(word)) != msg.sender) revert NotNodeOwner();'),
  owners('if (msg.sender != _owner) revert NotOwner();'),
  factory('function setMinter(address newMinter) external onlyOwner', 'function setMinter(address newMinter) external'),
  factory(
    'setDistributor(address newDistributor) external onlyOwner',
    'setDistributor(address newDistributor) external',
  ),
  factory('setSwapsAllowance(uint256 allowance) external onlyOwner', 'setSwapsAllowance(uint256 allowance) external'),
  factory('sweep(address to, uint256 amount) external onlyOwner', 'sweep(address to, uint256 amount) external'),
  factory('function pause() external onlyOwner', 'function pause() external'),
  factory('function unpause() external onlyOwner', 'function unpause() external'),
  factory(
    'setInterval(uint256 cohortId, uint256 interval) external onlyOwner',
    'setInterval(uint256 cohortId, uint256 interval) external',
  ),
  owners(
    'function transferOwnership(address newOwner) external onlyOwner',
    'function transferOwnership(address newOwner) external',
  ),
  factory('uint256 interval) external onlyMinter {', 'uint256 interval) external {'),
  factory(
    'openCohorts(CohortOpening[] calldata openings) external onlyMinter',
    'openCohorts(CohortOpening[] calldata openings) external',
  ),
  factory('bytes32 guardHash) external onlyMinter', 'bytes32 guardHash) external'),
  owners('if (msg.sender != _pendingOwner) revert NotPendingOwner();'),
  owners('if (owner_ == address(0)) revert ZeroOwner();'),
  owners('delete _pendingOwner;'),
  // Pause and fork guard.
  factory('if (_books.isPaused()) revert IsPaused();'),
  factory('if (books.isPaused()) revert IsPaused();'),
  factory('_requireFork(guardBlock, guardHash);\n        uint256 id', 'uint256 id'),
  factory('_requireFork(guardBlock, guardHash);\n        if (round_', 'if (round_'),
  factory('guardHash != 0 && blockhash', 'blockhash'),
  factory('blockhash(guardBlock) != guardHash', 'blockhash(guardBlock) == guardHash'),
  // Opening.
  factory('if (_cohorts[cohortId].isOpen()) revert CohortAlreadyOpen();'),
  factory('cohortId > type(uint16).max || tier', 'tier'),
  factory('|| tier > type(uint16).max'),
  factory('firstDue == 0 || '),
  factory('|| firstDue > type(uint40).max'),
  factory(
    'if (interval == 0 || interval > type(uint32).max) revert ScheduleOutOfRange();\n        if (_cohorts',
    'if (_cohorts',
  ),
  // Minting.
  factory('if (orders.length > type(uint32).max - id) revert NodeIdsExhausted();'),
  factory('if (_nodeOfRef[ref] != 0) return false;'),
  factory('_nodeOfRef[ref] = id;'),
  factory('if (_isImpossible(to)) return _skip(ref, RECIPIENT_IMPOSSIBLE);'),
  factory('if (balanceOf(to) >= maxPerWallet) return _skip(ref, WALLET_FULL);'),
  factory('balanceOf(to) >= maxPerWallet', 'balanceOf(to) > maxPerWallet'),
  factory('if (!current.isOpen()) return (false, 0);'),
  factory('current.nextDue() <= block.timestamp', 'current.nextDue() < block.timestamp'),
  factory('if (current.size() != 0) return (false, 0);'),
  factory('current = _rolled(current);'),
  factory('_cohorts[cohortId] = current.joined();'),
  factory('/ empty.interval() + 1;', '/ empty.interval();'),
  factory(' | (perNode << PER_NODE_SHIFT)'),
  factory('_lastId = uint32(id);'),
  // Crediting.
  factory('if (round_ != books.round() + 1) revert WrongRound();'),
  factory('if (credits.length == 0) revert EmptyRound();'),
  factory('if (msg.value != total) _spendSurplus(total);'),
  factory('if (total > type(uint96).max - books.credited()) revert AmountTooLarge();'),
  factory('_books = books.afterRound(total);'),
  factory('if (size == 0) revert EmptyCohort();'),
  factory('if (current.lastRound() == round_) revert CohortTwiceInRound();'),
  factory('if (due > block.timestamp) revert TurnNotDue();'),
  factory('due > block.timestamp', 'due >= block.timestamp'),
  factory('if (amount > type(uint80).max - current.perNode()) revert AmountTooLarge();'),
  factory('_cohorts[cohortId] = current.paid(amount, round_);'),
  factory('return amount * size;', 'return amount;'),
  factory('if (msg.value != 0) revert WrongValue();'),
  factory('if (total > allowance) revert AllowanceExceeded();'),
  factory('if (total > _surplus()) revert SurplusExceeded();'),
  factory('swapsAllowance = allowance - total;'),
  // Intervals.
  factory('if (!changed.isOpen()) revert CohortNotOpen();'),
  factory('changed.size() != 0 && '),
  factory('changed.nextDue() + shorter <= block.timestamp', 'changed.nextDue() + shorter < block.timestamp'),
  factory('interval < changed.interval() ?', 'interval > changed.interval() ?'),
  factory('_cohorts[cohortId] = changed.withInterval(interval);'),
  // Withdrawing.
  factory(
    'if (_isImpossible(to)) revert ImpossibleRecipient();\n        if (amount == 0) revert ZeroAmount();\n        if (amount > balance)',
    'if (amount == 0) revert ZeroAmount();\n        if (amount > balance)',
  ),
  factory('if (amount == 0) revert ZeroAmount();\n        if (amount > balance)', 'if (amount > balance)'),
  factory('if (amount > balance) revert BalanceExceeded();'),
  factory('amount > balance)', 'amount >= balance)'),
  factory(
    '_book(id, to, amount, withdrawn);\n        _payOut(to, amount);',
    '_payOut(to, amount);\n        _book(id, to, amount, withdrawn);',
  ),
  factory('if (balance == 0) continue;'),
  factory('if (total == 0) revert ZeroAmount();'),
  factory('_withdrawn[id] = withdrawn + amount;'),
  factory('_books = _books.afterWithdrawal(amount);'),
  factory('if (!sent) revert SendFailed();'),
  factory('to == address(0) || to', 'to'),
  factory(' || to == address(this);', ';'),
  // The owner's ether.
  factory('if (amount > _surplus()) revert SurplusExceeded();'),
  factory('amount > _surplus()', 'amount > address(this).balance'),
  factory('address(this).balance > owed ? address(this).balance - owed : 0', 'address(this).balance - owed'),
  factory('return address(this).balance >= _outstanding();', 'return address(this).balance > _outstanding();'),
  // Reading.
  factory('uint256 available = last - firstId + 1;', 'uint256 available = last - firstId;'),
  factory('if (firstId > last) return nodes;'),
  // Lists.
  lists('if (from == to) return;'),
  lists('if (to == address(this)) revert ImpossibleRecipient();'),
  lists('if (count > maxPerWallet) revert WalletFull();'),
  lists('count > maxPerWallet', 'count >= maxPerWallet'),
  lists('if (from != address(0)) _remove(from, id);'),
  lists('if (last != id) _write(wallet, first, _find(wallet, first, id), last);'),
  lists(' & ~(LANE_MASK << shift)'),
  lists('first & ~LANE_MASK', 'first'),
  lists(' & ~difference'),
  lists('maxPerWallet_ == 0 || '),
  lists('maxPerWallet_ > CAP_MAX', 'maxPerWallet_ > CAP_MAX + 1'),
  // Packing.
  packed(' + (cohort.interval() << NEXT_DUE)'),
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

/** With forge's cache, so that a mutant compiles only what it changes. */
function copyContracts(home: string): void {
  for (const entry of ['foundry.toml', 'bin', 'src', 'test', 'out', 'cache/solidity-files-cache.json']) {
    cpSync(join(CONTRACTS_DIR, entry), join(home, 'contracts', entry), { recursive: true, preserveTimestamps: true })
  }
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
  const built = await forge(['build'], { directory, profile: 'light', quiet: true })
  if (built.code !== 0) return { caught: false, how: `does not compile: mend the mutant\n${built.output}` }
  const tested = await forge(['test', '--threads', '1'], { directory, profile: 'light', quiet: true })
  if (tested.code === 0) return { caught: false, how: 'survived' }
  const names = tested.output.matchAll(/^(?:\[FAIL.*\]| (?=invariant_)) ?(\w+)\(/gm)
  const failing = [...new Set([...names].map((match) => match[1]))]
  return { caught: true, how: `caught by ${failing.length > 0 ? failing.slice(0, 3).join(', ') : 'forge'}` }
}
