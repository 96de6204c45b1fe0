// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {INodeFactory} from "./INodeFactory.sol";
import {NodeLists} from "./NodeLists.sol";
import {NodeMetadata} from "./NodeMetadata.sol";
import {Books, Cohort} from "./Packed.sol";

/// @notice Owns what each node was credited and has withdrawn, and all ether that leaves for a node's owner. It must
/// never let anyone but a node's owner move what that node is owed, or copy what a recipient returns.
/// @dev A cohort stores what each of its nodes was credited since the opening. A node stores that figure as of its
/// mint. The difference modulo 2^80 is the node's credit, so a round writes one slot per cohort, however many nodes it
/// has. Cohort 0's figure is always 0, so a node that moves there stores 0 minus its credit.
abstract contract NodeAccounts is NodeLists {
    /// @dev A node's owner word: owner 160 | cohort's perNode at the mint (if expelled, 0 minus the credit) 80 | cohort
    /// 16.
    uint256 private constant PER_NODE_SHIFT = 160;
    uint256 private constant COHORT_SHIFT = 240;

    /// @dev Withdrawn totals have 80 bits, as credits do. Three share a slot.
    uint256 private constant TOTALS_PER_WORD = 3;
    uint256 private constant TOTAL_BITS = 80;
    uint256 private constant TOTAL_MASK = type(uint80).max;

    bytes4 private constant ERC5646 = 0xf5112315;

    Books internal _books;
    mapping(uint256 cohortId => Cohort) internal _cohorts;
    mapping(uint256 group => uint256) private _withdrawn;

    // ------------------------------------------------------------------------------------------------- node's owner

    /// @inheritdoc INodeFactory
    function withdraw(uint256 id, address to, uint256 amount) external {
        (uint256 balance, uint256 totals) = _requireOwn(id);
        if (_isImpossible(to)) revert ImpossibleRecipient();
        if (amount == 0) revert ZeroAmount();
        if (amount > balance) revert BalanceExceeded();
        _book(id, to, amount, totals);
        _payOut(to, amount);
    }

    /// @inheritdoc INodeFactory
    function withdrawAll(uint256[] calldata ids, address to) external {
        if (_isImpossible(to)) revert ImpossibleRecipient();
        uint256 total;
        for (uint256 i; i < ids.length; ++i) {
            (uint256 balance, uint256 totals) = _requireOwn(ids[i]);
            if (balance == 0) continue;
            _book(ids[i], to, balance, totals);
            total += balance;
        }
        if (total == 0) revert ZeroAmount();
        _payOut(to, total);
    }

    // ------------------------------------------------------------------------------------------------------ reading

    /// @inheritdoc INodeFactory
    function nodeInfo(uint256 id)
        external
        view
        returns (address nodeOwner, uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId)
    {
        uint256 word = _requireWord(id);
        (balance, credited, withdrawn, cohortId) = _account(id, word);
        nodeOwner = address(uint160(word));
    }

    /// @inheritdoc INodeFactory
    function getStateFingerprint(uint256 id) external view returns (bytes32) {
        uint256 word = _requireWord(id);
        (, uint256 credited, uint256 withdrawn, uint256 cohortId) = _account(id, word);
        return keccak256(abi.encode(id, address(uint160(word)), cohortId, credited, withdrawn));
    }

    /// @notice Metadata as a data URI, with exact amounts and a picture.
    /// @dev Built on chain, so it depends on no server.
    function tokenURI(uint256 id) public view override returns (string memory) {
        (uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId) = _account(id, _requireWord(id));
        return
            NodeMetadata.uri(NodeMetadata.Facts(id, balance, credited, withdrawn, cohortId, _cohorts[cohortId].tier()));
    }

    /// @inheritdoc INodeFactory
    function cohort(uint256 id)
        external
        view
        returns (uint256 perNode, uint256 size, uint256 nextDue, uint256 interval, uint256 tier)
    {
        Cohort stored = _cohorts[id];
        return (stored.perNode(), stored.size(), stored.nextDue(), stored.interval(), stored.tier());
    }

    /// @inheritdoc INodeFactory
    function round() external view returns (uint256) {
        return _books.round();
    }

    /// @inheritdoc INodeFactory
    function creditedTotal() external view returns (uint256) {
        return _books.credited();
    }

    /// @inheritdoc INodeFactory
    function withdrawnTotal() external view returns (uint256) {
        return _books.withdrawn();
    }

    /// @inheritdoc INodeFactory
    function outstanding() external view returns (uint256) {
        return _books.owed();
    }

    /// @inheritdoc INodeFactory
    function isSolvent() external view returns (bool) {
        return address(this).balance >= _books.owed();
    }

    /// @inheritdoc INodeFactory
    function paused() external view returns (bool) {
        return _books.isPaused();
    }

    /// @notice The collection's name.
    function name() public pure override returns (string memory) {
        return "Node Ledger";
    }

    /// @notice The collection's symbol.
    function symbol() public pure override returns (string memory) {
        return "NODE";
    }

    /// @notice Whether the contract implements an interface (ERC-165): ERC-721 with metadata, and ERC-5646.
    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return interfaceId == ERC5646 || super.supportsInterface(interfaceId);
    }

    // ------------------------------------------------------------------------------------------------------- inside

    /// @dev The part of a new node's owner word that says where its credits begin.
    function _extraDataOf(uint256 cohortId, uint256 perNode) internal pure returns (uint256) {
        return perNode | (cohortId << (COHORT_SHIFT - PER_NODE_SHIFT));
    }

    /// @dev The owner word of a node; reverts if the node was never minted.
    function _requireWord(uint256 id) internal view returns (uint256 word) {
        word = _ownerWord(id);
        if (word == 0) revert TokenDoesNotExist();
    }

    /// @dev Reads from an owner word where the node's credits began.
    function _originIn(uint256 word) internal pure returns (uint256 cohortId, uint256 perNodeAtMint) {
        return (word >> COHORT_SHIFT, uint80(word >> PER_NODE_SHIFT));
    }

    /// @dev The account of a minted node. `word` is its owner word, which the caller has read.
    function _account(uint256 id, uint256 word)
        internal
        view
        returns (uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId)
    {
        uint256 perNodeAtMint;
        (cohortId, perNodeAtMint) = _originIn(word);
        credited = _creditSince(perNodeAtMint, _cohorts[cohortId]);
        withdrawn = _totalIn(_withdrawn[id / TOTALS_PER_WORD], id);
        balance = credited - withdrawn;
    }

    /// @dev What a node of the cohort was credited since the cohort's figure was `perNodeAtMint`.
    function _creditSince(uint256 perNodeAtMint, Cohort current) internal pure returns (uint256) {
        unchecked {
            return uint80(current.perNode() - perNodeAtMint);
        }
    }

    /// @dev Moves a node to the closed cohort, 0, with what it was credited.
    function _close(uint256 id, uint256 credited) internal {
        unchecked {
            _setExtraData(id, uint96(_extraDataOf(0, uint80(0 - credited))));
        }
    }

    function _isImpossible(address to) internal view returns (bool) {
        return to == address(0) || to == address(this);
    }

    /// @dev Ether owed to no node.
    function _surplus() internal view returns (uint256) {
        uint256 owed = _books.owed();
        return address(this).balance > owed ? address(this).balance - owed : 0;
    }

    /// @dev Ignores what the recipient returns, because copying it would let the recipient spend the sender's gas.
    function _send(address to, uint256 amount) internal {
        bool sent;
        assembly ("memory-safe") {
            sent := call(gas(), to, amount, 0, 0, 0, 0)
        }
        if (!sent) revert SendFailed();
    }

    /// @dev The balance of the caller's node, and the word that holds its withdrawn total.
    function _requireOwn(uint256 id) private view returns (uint256 balance, uint256 totals) {
        uint256 word = _requireWord(id);
        if (address(uint160(word)) != msg.sender) revert NotNodeOwner();
        (uint256 cohortId, uint256 perNodeAtMint) = _originIn(word);
        totals = _withdrawn[id / TOTALS_PER_WORD];
        balance = _creditSince(perNodeAtMint, _cohorts[cohortId]) - _totalIn(totals, id);
    }

    /// @dev The sum stays within the total's bits, because it never exceeds the node's credit, which has 80 bits.
    function _book(uint256 id, address to, uint256 amount, uint256 totals) private {
        unchecked {
            uint256 shift = _totalShift(id);
            totals += amount << shift;
            _withdrawn[id / TOTALS_PER_WORD] = totals;
            emit Withdrawn(id, msg.sender, to, amount, (totals >> shift) & TOTAL_MASK);
        }
    }

    function _totalIn(uint256 totals, uint256 id) private pure returns (uint256) {
        return (totals >> _totalShift(id)) & TOTAL_MASK;
    }

    function _totalShift(uint256 id) private pure returns (uint256) {
        unchecked {
            return (id % TOTALS_PER_WORD) * TOTAL_BITS;
        }
    }

    /// @dev Updates the books before the ether leaves, so a recipient that calls back finds nothing left.
    function _payOut(address to, uint256 amount) private {
        _books = _books.afterWithdrawal(amount);
        _send(to, amount);
    }
}
