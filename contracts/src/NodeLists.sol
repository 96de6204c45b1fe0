// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC721} from "solady/tokens/ERC721.sol";
import {INodeFactory} from "./INodeFactory.sol";

/// @notice Owns each wallet's list of node ids and the cap on its length, kept as nodes are minted and transferred.
/// It must never call out, nor know anything of money: a list that fails would lock a node.
/// @dev A list is a row of 32-bit lanes, eight to a word. Word 0 is the wallet's ERC-721 balance slot, whose lane 0
/// already is the count, so up to seven ids cost no slot of their own:
///
///     word 0        count | id | id | id | id | id | id | id        (the balance slot)
///     words 1..32   id | id | id | id | id | id | id | id           (_overflow)
///
/// Position p of the list is lane p + 1 of that row. Lanes past the count hold leftovers: the count alone says what
/// is in the list, and each write masks its own lane. Leaving them saves a slot's price when the wallet grows again.
abstract contract NodeLists is ERC721, INodeFactory {
    uint256 private constant LANE_BITS = 32;
    uint256 private constant LANE_MASK = type(uint32).max;
    uint256 private constant LANES_PER_WORD = 8;
    /// @dev 256 ids fill word 0's seven lanes and 32 words less seven lanes; a removal reads them all at worst.
    uint256 private constant CAP_MAX = 256;
    uint256 private constant OVERFLOW_WORDS = 32;

    uint256 public immutable maxPerWallet;
    mapping(address wallet => uint256[OVERFLOW_WORDS]) private _overflow;

    constructor(uint256 maxPerWallet_) {
        if (maxPerWallet_ == 0 || maxPerWallet_ > CAP_MAX) revert CapOutOfRange();
        maxPerWallet = maxPerWallet_;
    }

    function nodesOf(address wallet) external view returns (uint256[] memory ids) {
        if (wallet == address(0)) return ids;
        uint256 count = balanceOf(wallet);
        ids = new uint256[](count);
        uint256 word = _word(wallet, 0);
        for (uint256 lane = 1; lane <= count; ++lane) {
            if (lane % LANES_PER_WORD == 0) word = _word(wallet, lane / LANES_PER_WORD);
            ids[lane - 1] = _laneOf(word, lane);
        }
    }

    /// @dev Runs after the balances have changed: `from` has one fewer, `to` one more. A refusal here undoes it all.
    function _afterTokenTransfer(address from, address to, uint256 id) internal override {
        if (from == to) return;
        if (to == address(this)) revert ImpossibleRecipient();
        uint256 count = balanceOf(to);
        if (count > maxPerWallet) revert WalletFull();
        _write(to, count, id);
        if (from != address(0)) _remove(from, id);
    }

    /// @dev The last id takes the place of the removed one.
    function _remove(address wallet, uint256 id) private {
        uint256 lastLane = balanceOf(wallet) + 1;
        uint256 last = _laneOf(_word(wallet, lastLane / LANES_PER_WORD), lastLane);
        if (last != id) _write(wallet, _find(wallet, id), last);
    }

    /// @dev The lane that holds `id`. The id is in the list and is not its last: the search always ends.
    function _find(address wallet, uint256 id) private view returns (uint256 lane) {
        uint256 word = _word(wallet, 0);
        for (lane = 1; _laneOf(word, lane) != id;) {
            if (++lane % LANES_PER_WORD == 0) word = _word(wallet, lane / LANES_PER_WORD);
        }
    }

    function _write(address wallet, uint256 lane, uint256 id) private {
        uint256 index = lane / LANES_PER_WORD;
        uint256 shift = (lane % LANES_PER_WORD) * LANE_BITS;
        uint256 word = (_word(wallet, index) & ~(LANE_MASK << shift)) | (id << shift);
        if (index == 0) _setAux(wallet, uint224(word >> LANE_BITS));
        else _overflow[wallet][index - 1] = word;
    }

    /// @dev Word 0 comes without its count, which only ERC-721 writes.
    function _word(address wallet, uint256 index) private view returns (uint256) {
        return index == 0 ? uint256(_getAux(wallet)) << LANE_BITS : _overflow[wallet][index - 1];
    }

    function _laneOf(uint256 word, uint256 lane) private pure returns (uint256) {
        return (word >> ((lane % LANES_PER_WORD) * LANE_BITS)) & LANE_MASK;
    }
}
