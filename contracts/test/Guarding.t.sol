// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @dev Answers whatever it was given, at the history contract's address.
contract Oracle {
    fallback() external {
        bytes memory answer = abi.encode(uint256(1), uint256(2));
        uint256 length = uint256(bytes32(msg.data)) % 65;
        assembly {
            return(add(answer, 0x20), length)
        }
    }
}

/// @dev Has a hash for every number, as a history that counts other blocks than NUMBER does.
contract Ahead {
    fallback(bytes calldata number) external returns (bytes memory) {
        return abi.encode(keccak256(number));
    }
}

/// @dev Fails with what looks like a hash.
contract Liar {
    fallback() external {
        assembly {
            mstore(0x00, 1)
            revert(0x00, 0x20)
        }
    }
}

/// @notice Owns the behaviour of the fork guard: by hash, within 256 blocks and beyond them.
contract GuardingTest is FactoryTest {
    /// @dev EIP-2935's address and published runtime code.
    address internal constant HISTORY = 0x0000F90827F1C53a10cb7A02335B175320002935;
    bytes internal constant HISTORY_CODE =
        hex"3373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257611fff81430311604257611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500";
    address internal constant SYSTEM = 0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE;
    uint256 internal constant SERVED = 8_191;
    /// @dev A cohort that is not due in these tests.
    uint256 internal growing;

    function setUp() public override {
        super.setUp();
        growing = open(7, START + 3650 days, INTERVAL);
        mint(ALICE, OTHER);
        vm.warp(FIRST_DUE);
        vm.etch(HISTORY, "");
    }

    /// @dev Puts the published code there, and has the chain write the hash of `number` in the block after it.
    function record(uint256 number, bytes32 blockHash) internal {
        vm.etch(HISTORY, HISTORY_CODE);
        vm.roll(number + 1);
        vm.prank(SYSTEM);
        (bool written,) = HISTORY.call(abi.encode(blockHash));
        vm.assertTrue(written, "the chain's own write");
    }

    function passes(uint256 guardBlock, bytes32 guardHash) internal {
        INodeFactory.CohortCredit[] memory credits = turn(OTHER, 0);
        uint256 next = factory.round() + 1;
        bytes32 ref = keccak256(abi.encode(guardBlock, guardHash, block.number));
        vm.prank(MINTER);
        factory.mint(order(ALICE, growing, ref), guardBlock, guardHash, block.timestamp);
        vm.assertTrue(factory.nodeOfRef(ref) != 0, "minted");
        vm.prank(DISTRIBUTOR);
        factory.credit(next, guardBlock, guardHash, block.timestamp, credits);
        vm.warp(nextDueOf(OTHER));
    }

    function refuses(uint256 guardBlock, bytes32 guardHash) internal {
        INodeFactory.CohortCredit[] memory credits = turn(OTHER, 0);
        uint256 next = factory.round() + 1;
        vm.expectRevert(INodeFactory.StaleFork.selector);
        vm.prank(MINTER);
        factory.mint(order(ALICE, growing, "refused"), guardBlock, guardHash, block.timestamp);
        vm.expectRevert(INodeFactory.StaleFork.selector);
        vm.prank(DISTRIBUTOR);
        factory.credit(next, guardBlock, guardHash, block.timestamp, credits);
    }

    function test_a_call_succeeds_only_on_the_fork_of_its_guard_block() public {
        vm.setBlockhash(9_990, "ours");
        refuses(9_990, "theirs");
        refuses(9_991, "ours");
        passes(9_990, "ours");
    }

    function test_a_hash_of_zero_is_no_guard() public {
        passes(0, 0);
        passes(9_990, 0);
        passes(type(uint256).max, 0);
    }

    function test_without_a_history_contract_a_guard_lapses_after_256_blocks() public {
        vm.setBlockhash(9_990, "ours");
        vm.roll(9_990 + 256);
        passes(9_990, "ours");
        vm.roll(9_990 + 257);
        vm.assertEq(factory.hashOf(9_990), 0, "unknown");
        refuses(9_990, "ours");
    }

    function test_with_a_history_contract_a_guard_lapses_with_its_window() public {
        record(9_990, "ours");
        vm.roll(9_990 + 257);
        vm.assertEq(factory.hashOf(9_990), "ours", "hashOf says what guards see");
        passes(9_990, "ours");
        refuses(9_990, "theirs");
        vm.roll(9_990 + SERVED);
        passes(9_990, "ours");
        vm.roll(9_990 + SERVED + 1);
        refuses(9_990, "ours");
    }

    function test_within_256_blocks_the_chains_own_word_counts() public {
        record(9_990, "another's");
        vm.setBlockhash(9_990, "ours");
        vm.roll(9_990 + 256);
        passes(9_990, "ours");
        refuses(9_990, "another's");
    }

    function test_a_block_that_the_history_does_not_hold_guards_nothing() public {
        record(9_990, "ours");
        vm.roll(9_990 + 300);
        vm.assertEq(factory.hashOf(9_991), 0, "a zero is no hash");
        refuses(9_991, "ours");
        vm.assertEq(factory.hashOf(block.number), 0, "none for this one");
        refuses(block.number, "ours");
        refuses(block.number + 1, "ours");
        refuses(type(uint256).max, "ours");
    }

    function test_the_history_is_asked_for_numbers_beyond_the_blocks_own_too() public {
        // As on Arbitrum, where NUMBER is the parent chain's and the history's numbers are the chain's own.
        vm.etch(HISTORY, address(new Ahead()).code);
        uint256[4] memory numbers =
            [block.number, block.number + 1, block.number + 100_000_000, type(uint256).max];
        for (uint256 i; i < numbers.length; ++i) {
            vm.assertEq(factory.hashOf(numbers[i]), keccak256(abi.encode(numbers[i])), "the history's own");
        }
        refuses(block.number + 100_000_000, "theirs");
        passes(block.number + 100_000_000, keccak256(abi.encode(block.number + 100_000_000)));
    }

    function test_an_answer_of_any_other_length_than_32_bytes_is_no_hash() public {
        vm.etch(HISTORY, address(new Oracle()).code);
        for (uint256 length; length <= 64; ++length) {
            bytes32 expected = length == 32 ? bytes32(uint256(1)) : bytes32(0);
            // The answer's length is the block's number modulo 65, far behind the head.
            vm.assertEq(factory.hashOf(65 * 10 + length), expected, "hash");
        }
    }

    function test_a_failure_is_no_hash_whatever_it_says() public {
        vm.etch(HISTORY, address(new Liar()).code);
        vm.assertEq(factory.hashOf(650), 0, "no hash");
        refuses(650, bytes32(uint256(1)));
    }

    function test_the_hash_of_a_block_is_the_chains_own() public {
        vm.setBlockhash(9_990, "hash");
        vm.assertEq(factory.hashOf(9_990), "hash", "hash");
        vm.assertEq(factory.hashOf(block.number), 0, "none for this one");
    }
}
