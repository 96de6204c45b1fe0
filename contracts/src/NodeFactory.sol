// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Base64} from "solady/utils/Base64.sol";
import {ERC721} from "solady/tokens/ERC721.sol";
import {NodeLists} from "./NodeLists.sol";
import {TwoStepOwner} from "./TwoStepOwner.sol";

/// @title Nodes as ERC-721 tokens, credited by cohort, withdrawn by their owners.
/// @notice Owns the nodes and every wei owed to them. It must never let anyone but a node's owner move what is owed to
/// that node, pay a turn twice or early, or mint twice for one ref; and it must never be upgradeable.
/// @dev A cohort keeps what one of its nodes was credited since the opening; a node keeps that figure as of its mint.
/// The difference is the node's credit, so a round writes one slot per cohort, however many nodes the cohort has.
contract NodeFactory is NodeLists, TwoStepOwner {
    // ------------------------------------------------------------------------------------------------------ packing

    /// @dev 248 bits, one slot, the only one that a cohort's turn writes. 80 bits of wei are 1.2 million ether per node.
    /// An interval is never 0, so 0 means "never opened". `lastRound` costs nothing here and stops a second credit in
    /// the same round.
    struct Cohort {
        uint80 perNode;
        uint32 size;
        uint40 nextDue;
        uint32 interval;
        uint16 tier;
        uint48 lastRound;
    }

    /// @dev 248 bits, one slot: all that a round reads and writes apart from its cohorts. Two totals that only grow,
    /// rather than their difference, let a follower notice a missed credit and a missed withdrawal each by itself.
    struct Books {
        uint96 credited;
        uint96 withdrawn;
        uint48 round;
        bool paused;
    }

    /// @dev A node's extra data, 96 bits beside its owner: cohort 16 | cohort's perNode at the mint 80.
    uint256 private constant PER_NODE_BITS = 80;
    uint256 private constant PER_NODE_MASK = type(uint80).max;

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
        if (_books.paused) revert IsPaused();
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
        Books memory books = _books;
        if (books.paused) revert IsPaused();
        _requireFork(guardBlock, guardHash);
        if (round_ != uint256(books.round) + 1) revert WrongRound();
        if (credits.length == 0) revert EmptyRound();

        uint256 total;
        for (uint256 i; i < credits.length; ++i) {
            total += _creditCohort(round_, credits[i].cohort, credits[i].amountPerNode);
        }
        if (msg.value != total) _spendSurplus(total);
        if (total > type(uint96).max - books.credited) revert AmountTooLarge();

        books.credited += uint96(total);
        books.round = uint48(round_);
        _books = books;
    }

    // ------------------------------------------------------------------------------------------------- node's owner

    function withdraw(uint256 id, address to, uint256 amount) external {
        (uint256 balance,, uint256 withdrawn,) = _requireOwn(id);
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
            (uint256 balance,, uint256 withdrawn,) = _requireOwn(ids[i]);
            if (balance == 0) continue;
            _book(ids[i], to, balance, withdrawn);
            total += balance;
        }
        if (total == 0) revert ZeroAmount();
        _payOut(to, total);
    }

    // --------------------------------------------------------------------------------------------- contract's owner

    function setInterval(uint256 cohortId, uint256 interval) external onlyOwner {
        Cohort storage stored = _cohorts[cohortId];
        uint256 previous = stored.interval;
        if (previous == 0) revert CohortNotOpen();
        if (interval == 0 || interval > type(uint32).max) revert ScheduleOutOfRange();
        // Turns that have passed are owed at the interval of their time: with more than the pending one behind us, a
        // longer interval would drop some and a shorter one invent some.
        uint256 shorter = interval < previous ? interval : previous;
        if (stored.size != 0 && stored.nextDue + shorter <= block.timestamp) revert TurnsOverdue();
        stored.interval = uint32(interval);
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
        _books.paused = true;
        emit Paused();
    }

    function unpause() external onlyOwner {
        _books.paused = false;
        emit Unpaused();
    }

    // ------------------------------------------------------------------------------------------------------ reading

    function nodeInfo(uint256 id)
        external
        view
        returns (address nodeOwner, uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId)
    {
        nodeOwner = ownerOf(id);
        (balance, credited, withdrawn, cohortId) = _account(id);
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
            node.owner = _ownerOf(node.id);
            (node.balance, node.credited, node.withdrawn, node.cohort) = _account(node.id);
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
        Cohort storage stored = _cohorts[id];
        return (stored.perNode, stored.size, stored.nextDue, stored.interval, stored.tier);
    }

    function round() external view returns (uint256) {
        return _books.round;
    }

    function creditedTotal() external view returns (uint256) {
        return _books.credited;
    }

    function withdrawnTotal() external view returns (uint256) {
        return _books.withdrawn;
    }

    function outstanding() external view returns (uint256) {
        return _outstanding();
    }

    function isSolvent() external view returns (bool) {
        return address(this).balance >= _outstanding();
    }

    function paused() external view returns (bool) {
        return _books.paused;
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
        if (_cohorts[cohortId].interval != 0) revert CohortAlreadyOpen();
        _cohorts[cohortId] = Cohort({
            perNode: 0,
            size: 0,
            nextDue: uint40(firstDue),
            interval: uint32(interval),
            tier: uint16(tier),
            lastRound: 0
        });
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
        _mintAndSetExtraDataUnchecked(to, id, uint96((cohortId << PER_NODE_BITS) | perNode));
        emit NodeMinted(id, to, ref, cohortId);
        return true;
    }

    /// @dev Adds a node to the cohort if it is open: it exists, and no turn of its nodes is due. A due cohort must not
    /// grow, or the newcomer would be paid for a turn before its mint and the round would cost more than planned.
    function _join(uint256 cohortId) private returns (bool open, uint256 perNode) {
        Cohort memory joined = _cohorts[cohortId];
        if (joined.interval == 0) return (false, 0);
        if (joined.nextDue <= block.timestamp) {
            if (joined.size != 0) return (false, 0);
            joined.nextDue = _rolled(joined.nextDue, joined.interval);
        }
        ++joined.size;
        _cohorts[cohortId] = joined;
        return (true, joined.perNode);
    }

    /// @dev The first turn after now in the same phase: turns that passed while nobody was there are owed to nobody.
    function _rolled(uint256 due, uint256 interval) private view returns (uint40) {
        return uint40(due + ((block.timestamp - due) / interval + 1) * interval);
    }

    function _skip(bytes32 ref, uint256 reason) private returns (bool) {
        emit MintSkipped(ref, reason);
        return false;
    }

    // ------------------------------------------------------------------------------------------- crediting, inside

    /// @dev Pays the cohort's pending turn and returns what that costs.
    function _creditCohort(uint256 round_, uint256 cohortId, uint256 amount) private returns (uint256) {
        Cohort memory paid = _cohorts[cohortId];
        uint256 due = paid.nextDue;
        if (paid.size == 0) revert EmptyCohort();
        if (paid.lastRound == round_) revert CohortTwiceInRound();
        if (due > block.timestamp) revert TurnNotDue();
        if (amount > type(uint80).max - paid.perNode) revert AmountTooLarge();

        paid.perNode += uint80(amount);
        paid.nextDue = uint40(due + paid.interval);
        paid.lastRound = uint48(round_);
        _cohorts[cohortId] = paid;
        emit Credited(round_, cohortId, due, amount, paid.size);
        return amount * paid.size;
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

    function _requireOwn(uint256 id)
        private
        view
        returns (uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId)
    {
        if (ownerOf(id) != msg.sender) revert NotNodeOwner();
        return _account(id);
    }

    /// @dev The node's account; meaningless for an id that was never minted.
    function _account(uint256 id)
        private
        view
        returns (uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId)
    {
        uint256 extra = _getExtraData(id);
        cohortId = extra >> PER_NODE_BITS;
        credited = _cohorts[cohortId].perNode - (extra & PER_NODE_MASK);
        withdrawn = _withdrawn[id];
        balance = credited - withdrawn;
    }

    function _book(uint256 id, address to, uint256 amount, uint256 withdrawn) private {
        _withdrawn[id] = withdrawn + amount;
        emit Withdrawn(id, msg.sender, to, amount, withdrawn + amount);
    }

    /// @dev The books are right before the ether leaves, so that whoever is called finds nothing left to take.
    function _payOut(address to, uint256 amount) private {
        _books.withdrawn += uint96(amount);
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
        return uint256(_books.credited) - _books.withdrawn;
    }

    /// @dev Ether owed to nobody.
    function _surplus() private view returns (uint256) {
        uint256 owed = _outstanding();
        return address(this).balance > owed ? address(this).balance - owed : 0;
    }
}
