// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {INodeFactory} from "./INodeFactory.sol";
import {WordERC721} from "./WordERC721.sol";

/// @notice Owns each wallet's list of node ids and the cap on its length, as nodes are minted and transferred. It must
/// never call another contract or handle money, because a list that fails would lock a node.
/// @dev A list is a row of 32-bit lanes, eight to a word. Word 0 is the wallet's ERC-721 balance slot, whose lane 0
/// already is the count, so up to seven ids need no slot of their own. The count needs 9 bits; the highest bit of its
/// lane says that the wallet declines gifts:
///
///     word 0        count | id | id | id | id | id | id | id        (the balance slot)
///     words 1..32   id | id | id | id | id | id | id | id           (_overflow)
///
/// Position p of the list is lane p + 1 of that row. Lanes past the count hold leftovers. Only the count says what is
/// in the list, and each write masks its own lane. Leftovers make it cheaper for the wallet to grow again.
abstract contract NodeLists is WordERC721, INodeFactory {
    uint256 private constant LANE_BITS = 32;
    uint256 private constant LANE_MASK = type(uint32).max;
    uint256 private constant LANES_PER_WORD = 8;
    /// @dev A bit of lane 0, above the count.
    uint256 private constant DECLINES_GIFTS = 1 << 31;
    uint256 private constant COUNT_MASK = DECLINES_GIFTS - 1;
    /// @dev A one in each lane.
    uint256 private constant LANE_ONES = type(uint256).max / LANE_MASK;
    /// @dev 256 ids fill the seven lanes of word 0 and all but seven lanes of 32 words. At worst a removal reads them
    /// all.
    uint256 private constant CAP_MAX = 256;
    uint256 private constant OVERFLOW_WORDS = 32;

    /// @inheritdoc INodeFactory
    uint256 public immutable maxPerWallet;
    mapping(address wallet => uint256[OVERFLOW_WORDS]) private _overflow;

    constructor(uint256 maxPerWallet_) {
        if (maxPerWallet_ == 0 || maxPerWallet_ > CAP_MAX) revert CapOutOfRange();
        maxPerWallet = maxPerWallet_;
    }

    /// @inheritdoc INodeFactory
    function nodesOf(address wallet) external view returns (uint256[] memory ids) {
        uint256 word = _balanceWord(wallet);
        ids = new uint256[](_countIn(word));
        for (uint256 lane = 1; lane <= ids.length; ++lane) {
            if (lane % LANES_PER_WORD == 0) word = _wordAt(wallet, word, lane);
            ids[lane - 1] = _idIn(word, lane);
        }
    }

    /// @inheritdoc INodeFactory
    function declineGifts(bool declined) external {
        uint256 word = _balanceWord(msg.sender) & ~DECLINES_GIFTS;
        _setBalanceWord(msg.sender, declined ? word | DECLINES_GIFTS : word);
        emit GiftsDeclined(msg.sender, declined);
    }

    /// @inheritdoc INodeFactory
    function declinesGifts(address wallet) external view returns (bool) {
        return _balanceWord(wallet) & DECLINES_GIFTS != 0;
    }

    /// @notice How many nodes the wallet holds.
    function balanceOf(address wallet) public view override returns (uint256) {
        if (wallet == address(0)) revert BalanceQueryForZeroAddress();
        return _countIn(_balanceWord(wallet));
    }

    /// @notice Lets `account` transfer the node. Accepts no ether.
    /// @dev ERC-721 makes this function payable; any ether sent would be lost to the sender.
    function approve(address account, uint256 id) public payable override {
        if (msg.value != 0) revert EtherRefused();
        super.approve(account, id);
    }

    /// @dev Gives `to` a new node. `first` is the wallet's word 0, and the list has room. Not a safe mint, because a
    /// contract wallet must not be able to fail a batch or call back into it.
    function _mintInto(address to, uint256 first, uint256 id, uint256 extraData) internal {
        uint256 lane = _countIn(first) + 1;
        _setOwnerWord(id, uint160(to) | (extraData << 160));
        if (lane < LANES_PER_WORD) first = _withLane(first, lane, id);
        else _write(to, first, lane, id);
        _setBalanceWord(to, first + 1);
        emit Transfer(address(0), to, id);
    }

    function _beforeTokenTransfer(address, address, uint256) internal override {
        if (msg.value != 0) revert EtherRefused();
    }

    /// @dev Runs on transfers, after the counts have changed: `from` has one fewer, `to` one more. Reverting here
    /// undoes the transfer.
    function _afterTokenTransfer(address from, address to, uint256 id) internal override {
        if (from == to) return;
        if (to == address(this)) revert ImpossibleRecipient();
        uint256 word = _balanceWord(to);
        // A minted node was paid for. A node that another account transfers may be a gift that fills the list.
        if (word & DECLINES_GIFTS != 0 && msg.sender != to) revert GiftDeclined();
        uint256 count = _countIn(word);
        if (count > maxPerWallet) revert WalletFull();
        _write(to, word, count, id);
        _remove(from, id);
    }

    /// @dev The last id takes the removed one's place.
    function _remove(address wallet, uint256 id) private {
        uint256 first = _balanceWord(wallet);
        uint256 lastLane = _countIn(first) + 1;
        uint256 last = _idIn(_wordAt(wallet, first, lastLane), lastLane);
        if (last != id) _write(wallet, first, _find(wallet, first, id), last);
    }

    /// @dev Finds the lane that holds `id`, a word at a time. The id is in the list and is not the last one, so the
    /// search always ends, and before any leftover.
    function _find(address wallet, uint256 first, uint256 id) private view returns (uint256 lane) {
        // Lane 0 is not an id, though it may look like one.
        uint256 word = first & ~LANE_MASK;
        while (!_holds(word, id)) {
            lane += LANES_PER_WORD;
            word = _wordAt(wallet, first, lane);
        }
        while (_idIn(word, lane) != id) ++lane;
    }

    /// @dev Whether any lane is `id`. That lane's difference is zero, and only a zero lane borrows into its top bit
    /// when one is subtracted. A lane above it may seem to as well, but never without it.
    function _holds(uint256 word, uint256 id) private pure returns (bool) {
        unchecked {
            uint256 difference = word ^ (id * LANE_ONES);
            return (difference - LANE_ONES) & ~difference & (LANE_ONES << (LANE_BITS - 1)) != 0;
        }
    }

    function _write(address wallet, uint256 first, uint256 lane, uint256 id) private {
        uint256 word = _withLane(_wordAt(wallet, first, lane), lane, id);
        if (lane < LANES_PER_WORD) _setBalanceWord(wallet, word);
        else _overflow[wallet][lane / LANES_PER_WORD - 1] = word;
    }

    function _withLane(uint256 word, uint256 lane, uint256 id) private pure returns (uint256) {
        uint256 shift = (lane % LANES_PER_WORD) * LANE_BITS;
        return (word & ~(LANE_MASK << shift)) | (id << shift);
    }

    /// @dev The word that holds `lane`. `first` is the wallet's word 0, which the caller has read.
    function _wordAt(address wallet, uint256 first, uint256 lane) private view returns (uint256) {
        return lane < LANES_PER_WORD ? first : _overflow[wallet][lane / LANES_PER_WORD - 1];
    }

    function _idIn(uint256 word, uint256 lane) private pure returns (uint256) {
        return (word >> ((lane % LANES_PER_WORD) * LANE_BITS)) & LANE_MASK;
    }

    function _countIn(uint256 first) internal pure returns (uint256) {
        return first & COUNT_MASK;
    }
}
