// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev The cheats of forge that these tests use. No library stands between: there is nothing to download.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function prank(address sender) external;
    /// @dev Makes an account and its slots cold again, as at the start of a transaction.
    function cool(address account) external;
    function deal(address account, uint256 balance) external;
    function etch(address account, bytes calldata code) external;
    function assume(bool condition) external pure;
    function warp(uint256 timestamp) external;
    function roll(uint256 blockNumber) external;
    function setBlockhash(uint256 blockNumber, bytes32 blockHash) external;
    function store(address account, bytes32 slot, bytes32 value) external;
    function load(address account, bytes32 slot) external view returns (bytes32);
    function expectRevert(bytes4 selector) external;
    function expectEmit() external;
    function expectEmit(bool topic1, bool topic2, bool topic3, bool data, address emitter) external;
    function getCode(string calldata artifact) external view returns (bytes memory);
    function contains(string calldata text, string calldata part) external pure returns (bool);
    function split(string calldata text, string calldata delimiter) external pure returns (string[] memory);
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);
    function assertEq(uint256 left, uint256 right, string calldata what) external pure;
    function assertEq(address left, address right, string calldata what) external pure;
    function assertEq(bytes32 left, bytes32 right, string calldata what) external pure;
    function assertEq(string calldata left, string calldata right, string calldata what) external pure;
    function assertTrue(bool condition, string calldata what) external pure;
}

/// @notice Owns what every test stands on: the cheats and `bound`. It must never know the contract under test.
abstract contract Test {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    /// @dev forge's mark of a contract with tests.
    bool public constant IS_TEST = true;

    /// @dev `value` folded into min..max.
    function bound(uint256 value, uint256 min, uint256 max) internal pure returns (uint256) {
        if (value >= min && value <= max) return value;
        return min + value % (max - min + 1);
    }

    /// @dev Deploys creation code; a constructor's refusal is passed on.
    function create(bytes memory code) internal returns (address deployed) {
        assembly ("memory-safe") {
            deployed := create(0, add(code, 0x20), mload(code))
            if iszero(deployed) {
                returndatacopy(0, 0, returndatasize())
                revert(0, returndatasize())
            }
        }
    }
}
