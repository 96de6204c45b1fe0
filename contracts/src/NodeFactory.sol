// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ForkGuard} from "./ForkGuard.sol";
import {HotKeys} from "./HotKeys.sol";
import {INodeFactory} from "./INodeFactory.sol";
import {NodeAccounts} from "./NodeAccounts.sol";
import {NodeLists} from "./NodeLists.sol";
import {NotOwedWindows} from "./NotOwedWindows.sol";
import {Books, Cohort, Cohorts, Supply, Use, Uses} from "./Packed.sol";
import {DistributorWord, MinterWord} from "./PackedKeys.sol";
import {TwoStepOwner} from "./TwoStepOwner.sol";

/// @title Nodes as ERC-721 tokens: credited by cohort, withdrawn from by their owners.
/// @notice Owns how cohorts are opened, nodes are minted and expelled, and turns are paid. It must never pay a turn
/// twice or early, drop a turn that is owed, or mint twice for one ref. It must never be upgradeable.
contract NodeFactory is NodeAccounts, HotKeys, NotOwedWindows, ForkGuard {
    uint256 private constant WALLET_FULL = 1;
    uint256 private constant COHORT_CLOSED = 2;
    uint256 private constant RECIPIENT_IMPOSSIBLE = 3;
    uint256 private constant BUDGET_SPENT = 4;
    uint256 private constant SUPPLY_SPENT = 5;

    /// @dev The service looks up and publishes a seed for each turn. More turns need another round.
    uint256 private constant TURNS_MAX = 2_000;
    /// @dev Tiers have 16 bits, so this is no tier's number.
    uint256 private constant TIERS = 1 << 16;

    /// @dev A week after its mint, a credited node is out of the owner's reach.
    uint256 private constant EXPULSION_PERIOD_MAX = 7 days;
    /// @dev It is out of reach after two of its turns if those come sooner.
    uint256 private constant EXPEL_INTERVALS = 2;

    /// @inheritdoc INodeFactory
    uint256 public immutable leastInterval;
    /// @inheritdoc INodeFactory
    uint256 public immutable expulsionPeriod;
    mapping(bytes32 ref => Use) private _uses;
    mapping(uint256 tier => Supply) private _supplies;

    /// @dev The tier that a batch is minting, and its supply. A batch writes the supply when it moves on to another
    /// tier.
    struct Minting {
        uint256 tier;
        Supply supply;
    }

    constructor(Setup memory setup) NodeLists(setup.maxPerWallet) TwoStepOwner(setup.owner) HotKeys(setup) {
        if (setup.leastInterval == 0 || setup.leastInterval > type(uint32).max) revert ScheduleOutOfRange();
        if (setup.expulsionPeriod > EXPULSION_PERIOD_MAX) revert ExpulsionPeriodOutOfRange();
        leastInterval = setup.leastInterval;
        expulsionPeriod = setup.expulsionPeriod;
    }

    /// @dev Plain ether is surplus: it is owed to no node. This must cost less than the 2,300 gas that `transfer`
    /// allows.
    receive() external payable {
        emit EtherReceived(msg.sender, msg.value);
    }

    // ------------------------------------------------------------------------------------------------------- minter

    /// @inheritdoc INodeFactory
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

    /// @inheritdoc INodeFactory
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
        Minting memory minting = Minting(TIERS, Supply.wrap(0));
        for (uint256 i; i < orders.length; ++i) {
            unchecked {
                if (_mintOrder(orders[i], id + 1, lastInBudget, minting)) ++id;
            }
        }
        _turnTo(TIERS, minting);
        _minter = word.minted(id - former);
    }

    // -------------------------------------------------------------------------------------------------- distributor

    /// @inheritdoc INodeFactory
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
                // No overflow: an amount has 80 bits, a size 32, and a block holds far fewer than 2^144 entries.
                total += _creditCohort(round_, entry, distributor_);
            }
        }
        if (msg.value != total) _spendSurplus(round_, total);
        if (total > type(uint96).max - books.credited()) revert AmountTooLarge();
        _books = books.afterRound(total);
    }

    // --------------------------------------------------------------------------------------------- contract's owner

    /// @inheritdoc INodeFactory
    function setInterval(uint256 cohortId, uint256 interval) external onlyOwner {
        Cohort changed = _cohorts[cohortId];
        if (!changed.isOpen()) revert CohortNotOpen();
        _requireInterval(interval);
        // Turns that have come due are owed at the interval of their time. If one after the pending turn has come due, a
        // longer interval would drop turns and a shorter one would invent some.
        uint256 former = changed.interval();
        uint256 shorter = interval < former ? interval : former;
        if (changed.size() != 0 && changed.nextDue() + shorter <= block.timestamp) revert TurnsOverdue();
        _cohorts[cohortId] = changed.withInterval(interval);
        emit IntervalSet(cohortId, interval, former);
    }

    /// @inheritdoc INodeFactory
    function expel(bytes32[] calldata refs) external onlyOwner {
        for (uint256 i; i < refs.length; ++i) {
            Use use = _uses[refs[i]];
            (uint256 cohortId, uint256 perNodeAtMint) = _originIn(_ownerWord(use.id()));
            // Skips refs without a node, because node 0's word is empty, and nodes that were already expelled.
            if (cohortId == 0) continue;
            Cohort former = _cohorts[cohortId];
            uint256 credited = _creditSince(perNodeAtMint, former);
            if (credited != 0 && block.timestamp >= use.mintedAt() + _expulsionPeriodOf(former)) continue;
            _cohorts[cohortId] = former.left();
            _supplies[former.tier()] = _supplies[former.tier()].left();
            _close(use.id(), credited);
            emit NodeExpelled(use.id(), refs[i], cohortId, credited);
        }
    }

    /// @inheritdoc INodeFactory
    function capTier(uint256 tier, uint256 most) external onlyOwner {
        if (tier >= TIERS) revert SupplyOutOfRange();
        Supply supply = _supplies[tier];
        uint256 former = supply.most();
        if (most > former || most < supply.minted()) revert SupplyOutOfRange();
        _supplies[tier] = supply.withMost(most);
        emit TierCapped(tier, most, former);
    }

    /// @inheritdoc INodeFactory
    function sweep(address to, uint256 amount) external onlyOwner {
        if (_isImpossible(to)) revert ImpossibleRecipient();
        if (amount == 0) revert ZeroAmount();
        if (amount > _surplus()) revert SurplusExceeded();
        emit Swept(to, amount);
        _send(to, amount);
    }

    /// @inheritdoc INodeFactory
    function pause() external onlyOwner {
        _books = _books.withPaused(true);
        emit Paused();
    }

    /// @inheritdoc INodeFactory
    function unpause() external onlyOwner {
        _books = _books.withPaused(false);
        emit Unpaused();
    }

    // ------------------------------------------------------------------------------------------------------ reading

    /// @inheritdoc INodeFactory
    function nodeOfRef(bytes32 ref) external view returns (uint256) {
        return _uses[ref].id();
    }

    /// @inheritdoc INodeFactory
    function tierSupply(uint256 tier) external view returns (uint256 minted, uint256 most) {
        return (_supplies[tier].minted(), _supplies[tier].most());
    }

    /// @inheritdoc INodeFactory
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

    /// @dev Returns whether the order took `id`. A skipped order leaves only an event, so it can be sent again.
    function _mintOrder(Order calldata order, uint256 id, uint256 lastInBudget, Minting memory minting)
        private
        returns (bool)
    {
        (address to, uint256 cohortId, bytes32 ref) = (order.to, order.cohort, order.ref);
        uint256 taken = _uses[ref].id();
        if (taken != 0) {
            if (_ownerOf(taken) != to) emit RefTaken(ref, taken, to);
            return false;
        }
        if (_isImpossible(to)) return _skip(ref, RECIPIENT_IMPOSSIBLE);
        uint256 list = _balanceWord(to);
        if (_countIn(list) >= maxPerWallet) return _skip(ref, WALLET_FULL);
        Cohort joined = _takingNodes(cohortId);
        if (!joined.isOpen()) return _skip(ref, COHORT_CLOSED);
        uint256 tier = joined.tier();
        if (tier != minting.tier) _turnTo(tier, minting);
        if (minting.supply.isSpent()) return _skip(ref, SUPPLY_SPENT);
        if (id > lastInBudget) return _skip(ref, BUDGET_SPENT);

        _cohorts[cohortId] = joined.joined();
        minting.supply = minting.supply.joined();
        _uses[ref] = Uses.packed(id, block.timestamp);
        _mintInto(to, list, id, _extraDataOf(cohortId, joined.perNode()));
        emit NodeMinted(id, to, ref, cohortId);
        return true;
    }

    /// @dev Writes the supply of the previous tier and reads that of `tier`. `TIERS` means no tier.
    function _turnTo(uint256 tier, Minting memory minting) private {
        if (minting.tier != TIERS) _supplies[minting.tier] = minting.supply;
        minting.tier = tier;
        if (tier != TIERS) minting.supply = _supplies[tier];
    }

    /// @dev How long after its mint a credited node of the cohort may be expelled.
    function _expulsionPeriodOf(Cohort current) private view returns (uint256) {
        uint256 turns = EXPEL_INTERVALS * current.interval();
        return turns < expulsionPeriod ? turns : expulsionPeriod;
    }

    /// @dev The cohort as a node would join it now, or zero if it takes none: it was never opened, or a turn of its
    /// nodes is due. A due cohort must not grow. Otherwise the new node would be paid for a turn before its mint, and
    /// the round would cost more than planned.
    function _takingNodes(uint256 cohortId) private view returns (Cohort) {
        Cohort current = _cohorts[cohortId];
        if (!current.isOpen() || current.nextDue() > block.timestamp) return current;
        return current.size() != 0 ? Cohort.wrap(0) : _rolled(current);
    }

    /// @dev Moves an empty cohort to its first turn after now. Nobody is owed the turns that passed while it was empty.
    function _rolled(Cohort empty) private view returns (Cohort) {
        uint256 missed = (block.timestamp - empty.nextDue()) / empty.interval() + 1;
        return empty.postponed(missed * empty.interval());
    }

    function _skip(bytes32 ref, uint256 reason) private returns (bool) {
        emit MintSkipped(ref, reason);
        return false;
    }

    // ------------------------------------------------------------------------------------------- crediting, inside

    /// @dev Moves the cohort past the turns that the entry skips and pays, and returns what the entry costs.
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
        // Turns are at least a second apart, so more than 2^40 of them cannot have come due.
        if (skipped > type(uint40).max) revert TurnNotDue();
        // No overflow below: times have 40 bits, turns 41, intervals 32, and bounds 48 plus 30 for wei.
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

    /// @dev A round that sends no ether spends surplus. The allowance limits what a stolen distributor key can give
    /// away.
    function _spendSurplus(uint256 round_, uint256 total) private {
        if (msg.value != 0) revert WrongValue();
        uint256 allowance = swapsAllowance;
        if (total > allowance) revert AllowanceExceeded();
        if (total > _surplus()) revert SurplusExceeded();
        swapsAllowance = allowance - total;
        emit SurplusSpent(round_, total, allowance - total);
    }
}
