// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {FactoryTest} from "./FactoryTest.sol";

/// @notice Owns where everything lies in storage, as docs/CONTRACT.md has it, down to Solady's two derivations that the
/// lists rest on.
contract LayoutTest is FactoryTest {
    function word(uint256 slot) internal view returns (uint256) {
        return uint256(vm.load(address(factory), bytes32(slot)));
    }

    function mapped(uint256 key, uint256 slot) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(key, slot)));
    }

    /// @dev Solady's seed in place of the id's last four bytes, which are added outside of the hash.
    function ownerSlot(uint256 id) internal pure returns (uint256) {
        return uint256(keccak256(abi.encodePacked(bytes28(bytes32(id)), bytes4(0x7d882553)))) + 2 * id;
    }

    function balanceSlot(address wallet) internal pure returns (uint256) {
        return uint256(keccak256(abi.encodePacked(wallet, bytes8(0x0a5a2e7a00000000))));
    }

    function test_every_value_lies_where_the_documents_say() public {
        mintMany(ALICE, 8);
        mint(order(BOB, DAILY, "ref"));
        creditTurn(DAILY, 3 ether);
        mint(CAROL, DAILY);
        vm.prank(ALICE);
        factory.withdraw(4, ALICE, 1 ether);
        vm.prank(OWNER);
        factory.transferOwnership(CAROL);
        vm.prank(OWNER);
        factory.setBounds(DISTRIBUTOR, 5, 6);
        allow(77);
        vm.prank(OWNER);
        factory.addNotOwed(1, 8, 9);
        capTier(TIER, 500);
        vm.prank(OWNER);
        factory.pause();
        vm.prank(ALICE);
        factory.declineGifts(true);

        vm.assertEq(word(1), 27 ether | (1 ether << 96) | (1 << 192) | (1 << 240), "books");
        uint256 schedule = ((FIRST_DUE + INTERVAL) << 112) | (INTERVAL << 152) | (7 << 184) | (1 << 200);
        vm.assertEq(word(mapped(DAILY, 2)), 3 ether | (10 << 80) | schedule, "cohort");
        vm.assertEq(word(mapped(1, 3)), uint256(1 ether) << 80, "withdrawn, of nodes 3 to 5");
        vm.assertEq(word(4), uint160(OWNER), "owner");
        vm.assertEq(word(5), uint160(CAROL), "pendingOwner");
        uint256 left = ((NODES - 10) << 192) | ((COHORTS - 2) << 224) | (uint256(2) << 240);
        vm.assertEq(word(6), uint160(MINTER) | (10 << 160) | left, "minter");
        vm.assertEq(word(7), uint160(DISTRIBUTOR) | (5 << 160) | (uint256(6) << 208), "distributor");
        vm.assertEq(word(8), 77, "swapsAllowance");
        vm.assertEq(word(9), 1, "windows");
        vm.assertEq(word(uint256(keccak256(abi.encode(9)))), 8 | (9 << 40), "a window");
        vm.assertEq(word(mapped(uint256(bytes32("ref")), 10)), 9 | (START << 32), "ref");
        uint256 withheld = NO_CAP - 500;
        vm.assertEq(word(mapped(TIER, 11)), 10 | (withheld << 32), "supply");
    }

    function test_nodes_and_lists_lie_in_soladys_slots() public {
        mintMany(ALICE, 8);
        creditTurn(DAILY, 3 ether);
        mint(CAROL, DAILY);
        vm.assertEq(word(ownerSlot(9)), uint160(CAROL) | (3 ether << 160) | (DAILY << 240), "owner word");
        vm.assertEq(word(balanceSlot(CAROL)), 1 | (9 << 32), "balance word");
        uint256 list = 8;
        for (uint256 id = 1; id <= 7; ++id) {
            list |= id << (32 * id);
        }
        vm.assertEq(word(balanceSlot(ALICE)), list, "count and the first seven");
        vm.assertEq(word(mapped(uint160(ALICE), 0)), 8, "the eighth, in a slot of its own");
        vm.prank(ALICE);
        factory.declineGifts(true);
        vm.assertEq(word(balanceSlot(ALICE)), list | (1 << 31), "the bit beside the count");
    }
}
