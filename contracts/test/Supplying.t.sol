// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @notice Owns the behaviour of how many nodes a tier may ever have.
contract SupplyingTest is FactoryTest {
    event MintSkipped(bytes32 indexed ref, uint256 reason);
    event TierCapped(uint256 indexed tier, uint256 most, uint256 former);

    function refuseCap(uint256 tier, uint256 most) internal {
        vm.expectRevert(INodeFactory.SupplyOutOfRange.selector);
        capTier(tier, most);
    }

    function expel(bytes32 ref) internal {
        bytes32[] memory refs = new bytes32[](1);
        refs[0] = ref;
        vm.prank(OWNER);
        factory.expel(refs);
    }

    function expectSkip(bytes32 ref, uint256 reason) internal {
        vm.expectEmit(true, true, true, true, address(factory));
        emit MintSkipped(ref, reason);
    }

    function test_a_tier_that_was_never_capped_may_have_as_many_nodes_as_there_are_ids() public {
        assertSupply(TIER, 0, NO_CAP);
        mint(ALICE, DAILY);
        mint(BOB, OTHER);
        assertSupply(TIER, 2, NO_CAP);
        assertSupply(TIER + 1, 0, NO_CAP);
    }

    function test_a_batch_mints_up_to_the_cap_in_all_cohorts_of_the_tier_and_passes_over_the_rest() public {
        uint256 unlimited = open(TIER + 1, FIRST_DUE, INTERVAL);
        vm.expectEmit(true, true, true, true, address(factory));
        emit TierCapped(TIER, 2, NO_CAP);
        capTier(TIER, 2);
        INodeFactory.Order[] memory orders = new INodeFactory.Order[](5);
        orders[0] = INodeFactory.Order(ALICE, DAILY, "a");
        orders[1] = INodeFactory.Order(BOB, OTHER, "b");
        orders[2] = INodeFactory.Order(CAROL, DAILY, "c");
        orders[3] = INodeFactory.Order(CAROL, OTHER, "d");
        orders[4] = INodeFactory.Order(CAROL, unlimited, "e");
        (uint256 budget,) = factory.budget();
        expectSkip("c", 5);
        expectSkip("d", 5);
        mint(orders);
        assertSupply(TIER, 2, 2);
        assertSupply(TIER + 1, 1, NO_CAP);
        vm.assertEq(factory.lastId(), 3, "three nodes");
        vm.assertEq(factory.nodeOfRef("c"), 0, "its ref stays free");
        vm.assertEq(factory.nodeOfRef("e"), 3, "another tier has its own");
        (uint256 left,) = factory.budget();
        vm.assertEq(budget - left, 3, "what is not minted costs no budget");
    }

    function test_a_cap_is_only_ever_lowered() public {
        capTier(TIER, 10);
        refuseCap(TIER, 11);
        refuseCap(TIER, NO_CAP);
        capTier(TIER, 10);
        vm.expectEmit(true, true, true, true, address(factory));
        emit TierCapped(TIER, 9, 10);
        capTier(TIER, 9);
        refuseCap(TIER, 10);
        assertSupply(TIER, 0, 9);
    }

    function test_a_cap_is_never_below_the_nodes_of_the_tier() public {
        mint(ALICE, DAILY);
        mint(ALICE, OTHER);
        refuseCap(TIER, 1);
        refuseCap(TIER, 0);
        capTier(TIER, 2);
        expectSkip("more", 5);
        mint(order(BOB, DAILY, "more"));
        capTier(TIER + 1, 0);
        uint256 closed = open(TIER + 1, FIRST_DUE, INTERVAL);
        expectSkip("none", 5);
        mint(order(BOB, closed, "none"));
    }

    function test_a_cap_fits_and_is_of_a_tier_that_can_be() public {
        refuseCap(TIER, 1 << 32);
        refuseCap(TIER, type(uint256).max);
        refuseCap(1 << 16, 1);
        refuseCap(type(uint256).max, 1);
        capTier(0, 3);
        assertSupply(0, 0, 3);
        capTier(type(uint16).max, NO_CAP);
        assertSupply(type(uint16).max, 0, NO_CAP);
        capTier(TIER, NO_CAP - 1);
        assertSupply(TIER, 0, NO_CAP - 1);
        refuseCap(TIER, NO_CAP);
        assertSupply(1 << 16, 0, NO_CAP);
        assertSupply(type(uint256).max, 0, NO_CAP);
    }

    function test_caps_of_all_sizes_are_kept_whole(uint16 tier, uint32 most, uint32 less) public {
        less = uint32(bound(less, 0, most));
        capTier(tier, most);
        assertSupply(tier, 0, most);
        capTier(tier, less);
        assertSupply(tier, 0, less);
    }

    function test_an_expelled_node_gives_its_place_back() public {
        capTier(TIER, 2);
        mint(order(ALICE, DAILY, "a"));
        mint(order(BOB, OTHER, "b"));
        expel("b");
        assertSupply(TIER, 1, 2);
        expel("b");
        assertSupply(TIER, 1, 2);
        mint(order(CAROL, DAILY, "c"));
        assertSupply(TIER, 2, 2);
        expectSkip("d", 5);
        mint(order(CAROL, DAILY, "d"));
        creditTurn(DAILY, 1);
        expel("a");
        assertSupply(TIER, 1, 2);
        capTier(TIER, 1);
        expectSkip("d", 5);
        mint(order(CAROL, DAILY, "d"));
    }

    function test_transfers_and_withdrawals_leave_a_tier_as_it_is() public {
        mint(ALICE, DAILY);
        creditTurn(DAILY, 1 ether);
        vm.prank(ALICE);
        factory.transferFrom(ALICE, BOB, 1);
        vm.prank(BOB);
        factory.withdraw(1, BOB, 1 ether);
        assertSupply(TIER, 1, NO_CAP);
    }

    function test_a_tiers_end_is_told_after_its_cohorts_and_before_the_budgets() public {
        capTier(TIER, 0);
        vm.prank(OWNER);
        factory.setMinter(MINTER, MINTER, 0, 0);
        expectSkip("zero", 3);
        mint(order(address(0), DAILY, "zero"));
        expectSkip("unopened", 2);
        mint(order(ALICE, 77, "unopened"));
        expectSkip("supply", 5);
        mint(order(ALICE, DAILY, "supply"));
    }

    function test_a_tier_may_be_capped_while_all_is_paused() public {
        vm.prank(OWNER);
        factory.pause();
        capTier(TIER, 4);
        assertSupply(TIER, 0, 4);
    }

    /// @dev A stolen minter's key fills a tier, so its owner can cap it no lower until the nodes are expelled.
    function test_a_tier_that_a_thief_filled_is_capped_again_once_its_nodes_are_expelled() public {
        capTier(TIER, 3);
        mint(order(ALICE, DAILY, "a"));
        mint(order(BOB, OTHER, "b"));
        mint(order(BOB, OTHER, "c"));
        expectSkip("buyer's", 5);
        mint(order(CAROL, DAILY, "buyer's"));
        refuseCap(TIER, 1);
        expel("b");
        expel("c");
        capTier(TIER, 1);
        assertSupply(TIER, 1, 1);
    }
}
