// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ForkGuard} from "./ForkGuard.sol";
import {HotKeys} from "./HotKeys.sol";
import {NodeAccounts} from "./NodeAccounts.sol";
import {NodeLists} from "./NodeLists.sol";
import {NotOwedWindows} from "./NotOwedWindows.sol";
import {Books, Cohort, Cohorts} from "./Packed.sol";
import {DistributorWord, MinterWord} from "./PackedKeys.sol";
import {TwoStepOwner} from "./TwoStepOwner.sol";

/// @title Nodes as ERC-721 tokens, credited by cohort, withdrawn by their owners.
/// @notice Owns how cohorts are opened, nodes minted and turns paid. It must never pay a turn twice or early, drop one
/// that is owed, or mint twice for one ref; and it must never be upgradeable.
contract NodeFactory is NodeAccounts, HotKeys, NotOwedWindows, ForkGuard {
    uint256 private constant WALLET_FULL = 1;
    uint256 private constant COHORT_CLOSED = 2;
    uint256 private constant RECIPIENT_IMPOSSIBLE = 3;
    uint256 private constant BUDGET_SPENT = 4;

    /// @dev Each turn has a seed of its own that the service looks up and publishes; more turns take a further round.
    uint256 private constant TURNS_MAX = 2_000;

    uint256 public immutable leastInterval;
    mapping(bytes32 ref => uint256) private _nodeOfRef;

    constructor(Setup memory setup) NodeLists(setup.maxPerWallet) TwoStepOwner(setup.owner) HotKeys(setup) {
        if (setup.leastInterval == 0 || setup.leastInterval > type(uint32).max) revert ScheduleOutOfRange();
        leastInterval = setup.leastInterval;
    }

    /// @dev Plain ether is owed to no node: it is surplus.
    receive() external payable {}

    // ------------------------------------------------------------------------------------------------------- minter

    function openCohorts(uint256 first, CohortOpening[] calldata openings, uint256 validUntil) external onlyMinter {
        if (_books.isPaused()) revert IsPaused();
        _requireInTime(validUntil);
        MinterWord word = _minter;
        if (first != word.lastCohort() + 1) revert WrongCohort();
        uint256 count = openings.length;
        if (count > type(uint16).max - word.lastCohort()) revert CohortNumbersExhausted();
        if (count > word.cohorts()) revert CohortBudgetExceeded();
        for (uint256 i; i < count; ++i) {
            _openCohort(first + i, openings[i]);
        }
        _minter = word.opened(count);
    }

    function mint(Order[] calldata orders, uint256 guardBlock, bytes32 guardHash, uint256 validUntil)
        external
        onlyMinter
    {
        if (_books.isPaused()) revert IsPaused();
        _requireInTime(validUntil);
        _requireFork(guardBlock, guardHash);
        MinterWord word = _minter;
        uint256 former = word.lastId();
        if (orders.length > type(uint32).max - former) revert NodeIdsExhausted();
        uint256 id = former;
        uint256 lastInBudget = former + word.nodes();
        for (uint256 i; i < orders.length; ++i) {
            unchecked {
                if (_mintOrder(orders[i], id + 1, lastInBudget)) ++id;
            }
        }
        _minter = word.minted(id - former);
    }

    // -------------------------------------------------------------------------------------------------- distributor

    function credit(
        uint256 round_,
        uint256 guardBlock,
        bytes32 guardHash,
        uint256 validUntil,
        CohortCredit[] calldata credits
    ) external payable {
        DistributorWord distributor_ = _distributor;
        if (msg.sender != distributor_.key()) revert NotDistributor();
        Books books = _books;
        if (books.isPaused()) revert IsPaused();
        _requireInTime(validUntil);
        _requireFork(guardBlock, guardHash);
        if (round_ != books.round() + 1) revert WrongRound();
        if (credits.length == 0) revert EmptyRound();

        uint256 total;
        uint256 room = TURNS_MAX;
        for (uint256 i; i < credits.length; ++i) {
            CohortCredit calldata entry = credits[i];
            if (entry.paid > room) revert TooManyTurns();
            unchecked {
                room -= entry.paid;
                // No overflow: an amount is 80 bits, a size 32, and a block holds far fewer entries than 2^144.
                total += _creditCohort(round_, entry, distributor_);
            }
        }
        if (msg.value != total) _spendSurplus(round_, total);
        if (total > type(uint96).max - books.credited()) revert AmountTooLarge();
        _books = books.afterRound(total);
    }

    // --------------------------------------------------------------------------------------------- contract's owner

    function setInterval(uint256 cohortId, uint256 interval) external onlyOwner {
        Cohort changed = _cohorts[cohortId];
        if (!changed.isOpen()) revert CohortNotOpen();
        _requireInterval(interval);
        // Turns that have passed are owed at the interval of their time: with more than the pending one behind us, a
        // longer interval would drop some and a shorter one invent some.
        uint256 former = changed.interval();
        uint256 shorter = interval < former ? interval : former;
        if (changed.size() != 0 && changed.nextDue() + shorter <= block.timestamp) revert TurnsOverdue();
        _cohorts[cohortId] = changed.withInterval(interval);
        emit IntervalSet(cohortId, interval, former);
    }

    function expel(bytes32[] calldata refs) external onlyOwner {
        for (uint256 i; i < refs.length; ++i) {
            uint256 id = _nodeOfRef[refs[i]];
            (uint256 cohortId, uint256 perNodeAtMint) = _originIn(_ownerWord(id));
            // No node has number 0, whose word is empty: the closed cohort, as that of a node already expelled.
            if (cohortId == 0) continue;
            Cohort former = _cohorts[cohortId];
            if (former.perNode() != perNodeAtMint) continue;
            _cohorts[cohortId] = former.left();
            _setExtraData(id, 0);
            emit NodeExpelled(id, refs[i], cohortId);
        }
    }

    function sweep(address to, uint256 amount) external onlyOwner {
        if (_isImpossible(to)) revert ImpossibleRecipient();
        if (amount == 0) revert ZeroAmount();
        if (amount > _surplus()) revert SurplusExceeded();
        emit Swept(to, amount);
        _send(to, amount);
    }

    function pause() external onlyOwner {
        _books = _books.withPaused(true);
        emit Paused();
    }

    function unpause() external onlyOwner {
        _books = _books.withPaused(false);
        emit Unpaused();
    }

    // ------------------------------------------------------------------------------------------------------ reading

    function nodeOfRef(bytes32 ref) external view returns (uint256) {
        return _nodeOfRef[ref];
    }

    function nodesInfo(uint256 firstId, uint256 count) external view returns (NodeView[] memory nodes) {
        uint256 last = _minter.lastId();
        if (firstId == 0) (firstId, count) = (1, count == 0 ? 0 : count - 1);
        if (firstId > last) return nodes;
        uint256 available = last - firstId + 1;
        nodes = new NodeView[](count < available ? count : available);
        for (uint256 i; i < nodes.length; ++i) {
            NodeView memory node = nodes[i];
            node.id = firstId + i;
            uint256 word = _ownerWord(node.id);
            node.owner = address(uint160(word));
            (node.balance, node.credited, node.withdrawn, node.cohort) = _account(node.id, word);
        }
    }

    // --------------------------------------------------------------------------------------------- minting, inside

    function _openCohort(uint256 cohortId, CohortOpening calldata opening) private {
        (uint256 tier, uint256 firstDue, uint256 interval) = (opening.tier, opening.firstDue, opening.interval);
        if (tier > type(uint16).max || firstDue == 0 || firstDue > type(uint40).max) revert ScheduleOutOfRange();
        _requireInterval(interval);
        _cohorts[cohortId] = Cohorts.opened(tier, firstDue, interval);
        emit CohortOpened(cohortId, tier, firstDue, interval);
    }

    function _requireInterval(uint256 interval) private view {
        if (interval < leastInterval || interval > type(uint32).max) revert ScheduleOutOfRange();
    }

    /// @dev Whether the order took `id`. What is skipped leaves no trace but its event, so it can be ordered again.
    function _mintOrder(Order calldata order, uint256 id, uint256 lastInBudget) private returns (bool) {
        (address to, uint256 cohortId, bytes32 ref) = (order.to, order.cohort, order.ref);
        uint256 taken = _nodeOfRef[ref];
        if (taken != 0) {
            if (_ownerOf(taken) != to) emit RefTaken(ref, taken, to);
            return false;
        }
        if (_isImpossible(to)) return _skip(ref, RECIPIENT_IMPOSSIBLE);
        uint256 list = _balanceWord(to);
        if (_countIn(list) >= maxPerWallet) return _skip(ref, WALLET_FULL);
        Cohort joined = _takingNodes(cohortId);
        if (!joined.isOpen()) return _skip(ref, COHORT_CLOSED);
        if (id > lastInBudget) return _skip(ref, BUDGET_SPENT);

        _cohorts[cohortId] = joined.joined();
        _nodeOfRef[ref] = id;
        _mintInto(to, list, id, _extraDataOf(cohortId, joined.perNode()));
        emit NodeMinted(id, to, ref, cohortId);
        return true;
    }

    /// @dev The cohort as a node would join it now, nothing where it is closed: it was never opened, or a turn of its
    /// nodes is due. A due cohort must not grow, or the newcomer would be paid for a turn before its mint and the round
    /// would cost more than planned.
    function _takingNodes(uint256 cohortId) private view returns (Cohort) {
        Cohort current = _cohorts[cohortId];
        if (!current.isOpen() || current.nextDue() > block.timestamp) return current;
        return current.size() != 0 ? Cohort.wrap(0) : _rolled(current);
    }

    /// @dev At the first turn after now in the same phase: turns that passed while it had no node are owed to none.
    function _rolled(Cohort empty) private view returns (Cohort) {
        uint256 missed = (block.timestamp - empty.nextDue()) / empty.interval() + 1;
        return empty.postponed(missed * empty.interval());
    }

    function _skip(bytes32 ref, uint256 reason) private returns (bool) {
        emit MintSkipped(ref, reason);
        return false;
    }

    // ------------------------------------------------------------------------------------------- crediting, inside

    /// @dev Moves the cohort past the turns that the entry skips and pays, and returns what that costs.
    function _creditCohort(uint256 round_, CohortCredit calldata entry, DistributorWord distributor_)
        private
        returns (uint256)
    {
        (uint256 skipped, uint256 paid, uint256 amount) = (entry.skipped, entry.paid, entry.amountPerNode);
        Cohort current = _cohorts[entry.cohort];
        uint256 size = current.size();
        if (size == 0) revert EmptyCohort();
        if (current.lastRound() == round_) revert CohortTwiceInRound();
        uint256 due = current.nextDue();
        if (entry.firstDue != due) revert WrongTurn();
        uint256 interval = current.interval();
        // Every turn begins a second of its own, so more than 40 bits of them cannot have passed.
        if (skipped > type(uint40).max) revert TurnNotDue();
        // No overflow from here on: times are 40 bits, turns 41, an interval 32, bounds 48 and 30 more for wei.
        unchecked {
            uint256 turns = skipped + paid;
            if (turns == 0) revert NoTurns();
            if (due + (turns - 1) * interval > block.timestamp) revert TurnNotDue();
            if (amount < distributor_.floorGwei() * 1 gwei * paid) revert AmountOutOfBounds();
            if (amount > distributor_.ceilingGwei() * 1 gwei * paid) revert AmountOutOfBounds();
            if (amount > type(uint80).max - current.perNode()) revert AmountTooLarge();
            _cohorts[entry.cohort] = current.credited(amount, turns * interval, round_);
            if (skipped != 0) {
                _requireNotOwed(due, due + (skipped - 1) * interval);
                emit TurnsSkipped(round_, entry.cohort, due, skipped);
            }
            if (paid != 0) emit Credited(round_, entry.cohort, due + skipped * interval, paid, amount, size);
            return amount * size;
        }
    }

    /// @dev A round that brings no value spends ether the contract holds beyond what it owes. The allowance bounds what
    /// a stolen distributor key could give away.
    function _spendSurplus(uint256 round_, uint256 total) private {
        if (msg.value != 0) revert WrongValue();
        uint256 allowance = swapsAllowance;
        if (total > allowance) revert AllowanceExceeded();
        if (total > _surplus()) revert SurplusExceeded();
        swapsAllowance = allowance - total;
        emit SurplusSpent(round_, total, allowance - total);
    }
}
