// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {INodeFactory} from "./INodeFactory.sol";

/// @notice Owns when a call may be executed: only on the fork it was made for, and not after its time. It must never
/// identify a block by its number, because only the hash says which fork this is.
abstract contract ForkGuard is INodeFactory {
    /// @dev EIP-2935: the last 8,191 block hashes on Ethereum, more on some rollups. Only that code can be at this
    /// address, and only the chain itself writes to it. If the chain does not, it returns zero or nothing.
    address private constant HISTORY = 0x0000F90827F1C53a10cb7A02335B175320002935;

    /// @inheritdoc INodeFactory
    function hashOf(uint256 blockNumber) external view returns (bytes32) {
        return _hashOf(blockNumber);
    }

    /// @dev Succeeds only on the fork that contains the guard block. A zero hash means no guard.
    function _requireFork(uint256 guardBlock, bytes32 guardHash) internal view {
        if (guardHash != 0 && _hashOf(guardBlock) != guardHash) revert StaleFork();
    }

    function _requireInTime(uint256 validUntil) internal view {
        if (block.timestamp > validUntil) revert Expired();
    }

    /// @dev BLOCKHASH knows 256 blocks. The history contract is asked for all others, including those of chains on
    /// which BLOCKHASH numbers the blocks of another chain.
    function _hashOf(uint256 blockNumber) private view returns (bytes32 blockHash) {
        blockHash = blockhash(blockNumber);
        if (blockHash != 0) return blockHash;
        assembly ("memory-safe") {
            mstore(0x00, blockNumber)
            let answered := staticcall(gas(), HISTORY, 0x00, 0x20, 0x00, 0x20)
            if and(answered, eq(returndatasize(), 0x20)) { blockHash := mload(0x00) }
        }
    }
}
