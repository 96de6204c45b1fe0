// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Base64} from "solady/utils/Base64.sol";
import {NodeLists} from "./NodeLists.sol";
import {Books, Cohort, Cohorts} from "./Packed.sol";
import {TwoStepOwner} from "./TwoStepOwner.sol";

/// @title Nodes as ERC-721 tokens, credited by cohort, withdrawn by their owners.
/// @notice Owns the nodes and every wei owed to them. It must never let anyone but a node's owner move what is owed to
/// that node, pay a turn twice or early, or mint twice for one ref; and it must never be upgradeable.
/// @dev A cohort keeps what one of its nodes was credited since the opening; a node keeps that figure as of its mint.
/// The difference is the node's credit, so a round writes one slot per cohort, however many nodes the cohort has.
contract NodeFactory is NodeLists, TwoStepOwner {
    /// @dev A node's owner word: owner 160 | cohort's perNode at the mint 80 | cohort 16.
    uint256 private constant PER_NODE_SHIFT = 160;
    uint256 private constant PER_NODE_MASK = type(uint80).max;
    uint256 private constant COHORT_SHIFT = 240;

    uint256 private constant WALLET_FULL = 1;
    uint256 private constant COHORT_CLOSED = 2;
    uint256 private constant RECIPIENT_IMPOSSIBLE = 3;

    /// @dev The minter and the last id share a slot: a mint reads both and writes one.
    address private _minter;
    uint32 private _lastId;
    address private _distributor;
    Books private _books;
    mapping(uint256 cohortId => Cohort) private _cohorts;
    mapping(uint256 nodeId => uint256) private _withdrawn;
    mapping(bytes32 ref => uint256) private _nodeOfRef;
    uint256 public swapsAllowance;

    constructor(address owner_, address minter_, address distributor_, uint256 maxPerWallet_)
        NodeLists(maxPerWallet_)
        TwoStepOwner(owner_)
    {
        _setMinter(minter_);
        _setDistributor(distributor_);
    }

    /// @dev Plain ether belongs to nobody: it is surplus.
    receive() external payable {}

    modifier onlyMinter() {
        if (msg.sender != _minter) revert NotMinter();
        _;
    }

    // ------------------------------------------------------------------------------------------------------- minter

    function openCohort(uint256 cohortId, uint256 tier, uint256 firstDue, uint256 interval) external onlyMinter {
        _openCohort(cohortId, tier, firstDue, interval);
    }

    function openCohorts(CohortOpening[] calldata openings) external onlyMinter {
        for (uint256 i; i < openings.length; ++i) {
            CohortOpening calldata opening = openings[i];
            _openCohort(opening.cohort, opening.tier, opening.firstDue, opening.interval);
        }
    }

    function mint(Order[] calldata orders, uint256 guardBlock, bytes32 guardHash) external onlyMinter {
        if (_books.isPaused()) revert IsPaused();
        _requireFork(guardBlock, guardHash);
        uint256 id = _lastId;
        if (orders.length > type(uint32).max - id) revert NodeIdsExhausted();
        for (uint256 i; i < orders.length; ++i) {
            if (_mintOrder(orders[i], id + 1)) ++id;
        }
        _lastId = uint32(id);
    }

    // -------------------------------------------------------------------------------------------------- distributor

    function credit(uint256 round_, uint256 guardBlock, bytes32 guardHash, CohortCredit[] calldata credits)
        external
        payable
    {
        if (msg.sender != _distributor) revert NotDistributor();
        Books books = _books;
        if (books.isPaused()) revert IsPaused();
        _requireFork(guardBlock, guardHash);
        if (round_ != books.round() + 1) revert WrongRound();
        if (credits.length == 0) revert EmptyRound();

        uint256 total;
        for (uint256 i; i < credits.length; ++i) {
            total += _creditCohort(round_, credits[i].cohort, credits[i].amountPerNode);
        }
        if (msg.value != total) _spendSurplus(total);
        if (total > type(uint96).max - books.credited()) revert AmountTooLarge();
        _books = books.afterRound(total);
    }

    // ------------------------------------------------------------------------------------------------- node's owner

    function withdraw(uint256 id, address to, uint256 amount) external {
        (uint256 balance, uint256 withdrawn) = _requireOwn(id);
        if (_isImpossible(to)) revert ImpossibleRecipient();
        if (amount == 0) revert ZeroAmount();
        if (amount > balance) revert BalanceExceeded();
        _book(id, to, amount, withdrawn);
        _payOut(to, amount);
    }

    function withdrawAll(uint256[] calldata ids, address to) external {
        if (_isImpossible(to)) revert ImpossibleRecipient();
        uint256 total;
        for (uint256 i; i < ids.length; ++i) {
            (uint256 balance, uint256 withdrawn) = _requireOwn(ids[i]);
            if (balance == 0) continue;
            _book(ids[i], to, balance, withdrawn);
            total += balance;
        }
        if (total == 0) revert ZeroAmount();
        _payOut(to, total);
    }

    // --------------------------------------------------------------------------------------------- contract's owner

    function setInterval(uint256 cohortId, uint256 interval) external onlyOwner {
        Cohort changed = _cohorts[cohortId];
        if (!changed.isOpen()) revert CohortNotOpen();
        if (interval == 0 || interval > type(uint32).max) revert ScheduleOutOfRange();
        // Turns that have passed are owed at the interval of their time: with more than the pending one behind us, a
        // longer interval would drop some and a shorter one invent some.
        uint256 shorter = interval < changed.interval() ? interval : changed.interval();
        if (changed.size() != 0 && changed.nextDue() + shorter <= block.timestamp) revert TurnsOverdue();
        _cohorts[cohortId] = changed.withInterval(interval);
        emit IntervalSet(cohortId, interval);
    }

    function setMinter(address newMinter) external onlyOwner {
        _setMinter(newMinter);
    }

    function setDistributor(address newDistributor) external onlyOwner {
        _setDistributor(newDistributor);
    }

    function setSwapsAllowance(uint256 allowance) external onlyOwner {
        swapsAllowance = allowance;
        emit SwapsAllowanceSet(allowance);
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

    function nodeInfo(uint256 id)
        external
        view
        returns (address nodeOwner, uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId)
    {
        uint256 word = _ownerWord(id);
        if (word == 0) revert TokenDoesNotExist();
        (balance, credited, withdrawn, cohortId) = _account(id, word);
        nodeOwner = address(uint160(word));
    }

    function nodesInfo(uint256 firstId, uint256 count) external view returns (NodeView[] memory nodes) {
        uint256 last = _lastId;
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

    function nodeOfRef(bytes32 ref) external view returns (uint256) {
        return _nodeOfRef[ref];
    }

    function lastId() external view returns (uint256) {
        return _lastId;
    }

    function cohort(uint256 id)
        external
        view
        returns (uint256 perNode, uint256 size, uint256 nextDue, uint256 interval, uint256 tier)
    {
        Cohort stored = _cohorts[id];
        return (stored.perNode(), stored.size(), stored.nextDue(), stored.interval(), stored.tier());
    }

    function round() external view returns (uint256) {
        return _books.round();
    }

    function creditedTotal() external view returns (uint256) {
        return _books.credited();
    }

    function withdrawnTotal() external view returns (uint256) {
        return _books.withdrawn();
    }

    function outstanding() external view returns (uint256) {
        return _outstanding();
    }

    function isSolvent() external view returns (bool) {
        return address(this).balance >= _outstanding();
    }

    function paused() external view returns (bool) {
        return _books.isPaused();
    }

    function minter() external view returns (address) {
        return _minter;
    }

    function distributor() external view returns (address) {
        return _distributor;
    }

    function hashOf(uint256 blockNumber) external view returns (bytes32) {
        return blockhash(blockNumber);
    }

    function name() public pure override returns (string memory) {
        return "Node Ledger";
    }

    function symbol() public pure override returns (string memory) {
        return "NODE";
    }

    /// @dev A name for wallets and markets to show, made on chain: there is no server to outlive.
    function tokenURI(uint256 id) public view override returns (string memory) {
        if (!_exists(id)) revert TokenDoesNotExist();
        string memory json = string.concat('{"name":"Node ', _decimal(id), '"}');
        return string.concat("data:application/json;base64,", Base64.encode(bytes(json)));
    }

    // --------------------------------------------------------------------------------------------- minting, inside

    function _openCohort(uint256 cohortId, uint256 tier, uint256 firstDue, uint256 interval) private {
        if (cohortId > type(uint16).max || tier > type(uint16).max) revert ScheduleOutOfRange();
        if (firstDue == 0 || firstDue > type(uint40).max) revert ScheduleOutOfRange();
        if (interval == 0 || interval > type(uint32).max) revert ScheduleOutOfRange();
        if (_cohorts[cohortId].isOpen()) revert CohortAlreadyOpen();
        _cohorts[cohortId] = Cohorts.opened(tier, firstDue, interval);
        emit CohortOpened(cohortId, tier, firstDue, interval);
    }

    /// @dev Whether the order took `id`. What is skipped leaves no trace but its event, so it can be ordered again.
    function _mintOrder(Order calldata order, uint256 id) private returns (bool) {
        (address to, uint256 cohortId, bytes32 ref) = (order.to, order.cohort, order.ref);
        if (_nodeOfRef[ref] != 0) return false;
        if (_isImpossible(to)) return _skip(ref, RECIPIENT_IMPOSSIBLE);
        if (balanceOf(to) >= maxPerWallet) return _skip(ref, WALLET_FULL);
        (bool open, uint256 perNode) = _join(cohortId);
        if (!open) return _skip(ref, COHORT_CLOSED);

        _nodeOfRef[ref] = id;
        // Not the safe mint: a contract wallet must not be able to fail a batch or to call back into it.
        _mintAndSetExtraDataUnchecked(to, id, uint96(((cohortId << COHORT_SHIFT) | (perNode << PER_NODE_SHIFT)) >> 160));
        emit NodeMinted(id, to, ref, cohortId);
        return true;
    }

    /// @dev Adds a node to the cohort if it is open: it exists, and no turn of its nodes is due. A due cohort must not
    /// grow, or the newcomer would be paid for a turn before its mint and the round would cost more than planned.
    function _join(uint256 cohortId) private returns (bool open, uint256 perNode) {
        Cohort current = _cohorts[cohortId];
        if (!current.isOpen()) return (false, 0);
        if (current.nextDue() <= block.timestamp) {
            if (current.size() != 0) return (false, 0);
            current = _rolled(current);
        }
        _cohorts[cohortId] = current.joined();
        return (true, current.perNode());
    }

    /// @dev At the first turn after now in the same phase: turns that passed while nobody was there are owed to nobody.
    function _rolled(Cohort empty) private view returns (Cohort) {
        uint256 missed = (block.timestamp - empty.nextDue()) / empty.interval() + 1;
        return empty.postponed(missed * empty.interval());
    }

    function _skip(bytes32 ref, uint256 reason) private returns (bool) {
        emit MintSkipped(ref, reason);
        return false;
    }

    // ------------------------------------------------------------------------------------------- crediting, inside

    /// @dev Pays the cohort's pending turn and returns what that costs.
    function _creditCohort(uint256 round_, uint256 cohortId, uint256 amount) private returns (uint256) {
        Cohort current = _cohorts[cohortId];
        (uint256 due, uint256 size) = (current.nextDue(), current.size());
        if (size == 0) revert EmptyCohort();
        if (current.lastRound() == round_) revert CohortTwiceInRound();
        if (due > block.timestamp) revert TurnNotDue();
        if (amount > type(uint80).max - current.perNode()) revert AmountTooLarge();
        _cohorts[cohortId] = current.paid(amount, round_);
        emit Credited(round_, cohortId, due, amount, size);
        return amount * size;
    }

    /// @dev A round that brings no value spends ether the contract holds beyond what it owes. The allowance bounds what
    /// a stolen distributor key could give away.
    function _spendSurplus(uint256 total) private {
        if (msg.value != 0) revert WrongValue();
        uint256 allowance = swapsAllowance;
        if (total > allowance) revert AllowanceExceeded();
        if (total > _surplus()) revert SurplusExceeded();
        swapsAllowance = allowance - total;
    }

    // ----------------------------------------------------------------------------------------- withdrawing, inside

    /// @dev What the caller's node holds and has withdrawn.
    function _requireOwn(uint256 id) private view returns (uint256 balance, uint256 withdrawn) {
        uint256 word = _ownerWord(id);
        if (word == 0) revert TokenDoesNotExist();
        if (address(uint160(word)) != msg.sender) revert NotNodeOwner();
        (balance,, withdrawn,) = _account(id, word);
    }

    /// @dev The account of a minted node, whose owner word the caller has read.
    function _account(uint256 id, uint256 word)
        private
        view
        returns (uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId)
    {
        cohortId = word >> COHORT_SHIFT;
        credited = _cohorts[cohortId].perNode() - ((word >> PER_NODE_SHIFT) & PER_NODE_MASK);
        withdrawn = _withdrawn[id];
        balance = credited - withdrawn;
    }

    function _book(uint256 id, address to, uint256 amount, uint256 withdrawn) private {
        _withdrawn[id] = withdrawn + amount;
        emit Withdrawn(id, msg.sender, to, amount, withdrawn + amount);
    }

    /// @dev The books are right before the ether leaves, so that whoever is called finds nothing left to take.
    function _payOut(address to, uint256 amount) private {
        _books = _books.afterWithdrawal(amount);
        _send(to, amount);
    }

    /// @dev Ignores what the recipient returns: copying it would let the recipient spend the sender's gas.
    function _send(address to, uint256 amount) private {
        bool sent;
        assembly ("memory-safe") {
            sent := call(gas(), to, amount, 0, 0, 0, 0)
        }
        if (!sent) revert SendFailed();
    }

    // ------------------------------------------------------------------------------------------------------- shared

    function _setMinter(address newMinter) private {
        _minter = newMinter;
        emit MinterSet(newMinter);
    }

    function _setDistributor(address newDistributor) private {
        _distributor = newDistributor;
        emit DistributorSet(newDistributor);
    }

    /// @dev Succeeds only on the fork that contains the guard block. Zero hash: no guard was asked for.
    function _requireFork(uint256 guardBlock, bytes32 guardHash) private view {
        if (guardHash != 0 && blockhash(guardBlock) != guardHash) revert StaleFork();
    }

    function _decimal(uint256 value) private pure returns (string memory digits) {
        for (; value != 0; value /= 10) {
            digits = string.concat(string(abi.encodePacked(uint8(48 + value % 10))), digits);
        }
    }

    function _isImpossible(address to) private view returns (bool) {
        return to == address(0) || to == address(this);
    }

    function _outstanding() private view returns (uint256) {
        return _books.owed();
    }

    /// @dev Ether owed to nobody.
    function _surplus() private view returns (uint256) {
        uint256 owed = _outstanding();
        return address(this).balance > owed ? address(this).balance - owed : 0;
    }
}
