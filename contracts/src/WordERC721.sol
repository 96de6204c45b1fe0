// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721} from "solady/tokens/ERC721.sol";

/// @notice Owns access to Solady's two packed ERC-721 slots as whole words, so that one read serves all their fields.
/// It must never change the fields that ERC-721 keeps, a token's owner and a wallet's count, except for a new token,
/// whose two slots are written whole and once.
/// @dev The slots are derived as documented in Solady's ERC721, whose version is pinned. Every test relies on them.
abstract contract WordERC721 is ERC721 {
    uint256 private constant MASTER_SLOT_SEED = 0x7d8825530a5a2e7a << 192;

    /// @dev owner 160 | extra data 96. Zero if the token was never minted.
    function _ownerWord(uint256 id) internal view returns (uint256 word) {
        assembly ("memory-safe") {
            mstore(0x00, id)
            mstore(0x1c, MASTER_SLOT_SEED)
            word := sload(add(id, add(id, keccak256(0x00, 0x20))))
        }
    }

    /// @dev count 32 | auxiliary data 224.
    function _balanceWord(address wallet) internal view returns (uint256 word) {
        assembly ("memory-safe") {
            mstore(0x1c, MASTER_SLOT_SEED)
            mstore(0x00, wallet)
            word := sload(keccak256(0x0c, 0x1c))
        }
    }

    /// @dev Only for a token that was never minted.
    function _setOwnerWord(uint256 id, uint256 word) internal {
        assembly ("memory-safe") {
            mstore(0x00, id)
            mstore(0x1c, MASTER_SLOT_SEED)
            sstore(add(id, add(id, keccak256(0x00, 0x20))), word)
        }
    }

    /// @dev `word` must hold the count of the wallet's tokens.
    function _setBalanceWord(address wallet, uint256 word) internal {
        assembly ("memory-safe") {
            mstore(0x1c, MASTER_SLOT_SEED)
            mstore(0x00, wallet)
            sstore(keccak256(0x0c, 0x1c), word)
        }
    }
}
