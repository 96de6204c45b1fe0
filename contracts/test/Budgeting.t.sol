// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @notice Owns the behaviour of what bounds a hot key: the minter's budget, the distributor's bounds, and `validUntil`.
contract BudgetingTest is FactoryTest {
    event MintSkipped(bytes32 indexed ref, uint256 reason);
    event MinterRefilled(
        address indexed minter, uint256 nodes, uint256 cohorts, uint256 formerNodes, uint256 formerCohorts
    );
    event BoundsSet(
        address indexed distributor,
        uint256 floorGwei,
        uint256 ceilingGwei,
        uint256 formerFloorGwei,
        uint256 formerCeilingGwei
    );

    function setMinter(uint256 nodes, uint256 cohorts) internal {
        vm.prank(OWNER);
        factory.setMinter(MINTER, MINTER, nodes, cohorts);
    }

    function setBounds(uint256 floorGwei, uint256 ceilingGwei) internal {
        vm.prank(OWNER);
        factory.setBounds(DISTRIBUTOR, floorGwei, ceilingGwei);
    }

    function assertBudget(uint256 nodes, uint256 cohorts) internal view {
        (uint256 nodesLeft, uint256 cohortsLeft) = factory.budget();
        vm.assertEq(nodesLeft, nodes, "nodes left");
        vm.assertEq(cohortsLeft, cohorts, "cohorts left");
    }

    // ------------------------------------------------------------------------------------------------------- budgets

    function test_a_batch_mints_what_the_budget_allows_and_passes_over_the_rest() public {
        setMinter(2, 0);
        INodeFactory.Order[] memory orders = new INodeFactory.Order[](4);
        orders[0] = INodeFactory.Order(ALICE, DAILY, "a");
        orders[1] = INodeFactory.Order(BOB, 77, "unopened");
        orders[2] = INodeFactory.Order(BOB, DAILY, "b");
        orders[3] = INodeFactory.Order(CAROL, DAILY, "c");
        vm.expectEmit(true, true, true, true, address(factory));
        emit MintSkipped("c", 4);
        mint(orders);
        vm.assertEq(factory.lastId(), 2, "two nodes");
        vm.assertEq(factory.nodeOfRef("c"), 0, "its ref stays free");
        (, uint256 size,,,) = factory.cohort(DAILY);
        vm.assertEq(size, 2, "nor did the cohort grow");
        assertBudget(0, 0);
        setMinter(1, 0);
        mint(order(CAROL, DAILY, "c"));
        vm.assertEq(factory.nodeOfRef("c"), 3, "minted once there is room");
    }

    function test_what_is_not_minted_costs_no_budget() public {
        setMinter(9, 9);
        mint(order(ALICE, 77, "unopened"));
        mint(order(address(0), DAILY, "impossible"));
        mint(order(ALICE, DAILY, "a"));
        mint(order(ALICE, DAILY, "a"));
        assertBudget(8, 9);
    }

    function test_openings_beyond_the_budget_are_refused_whole() public {
        setMinter(9, 1);
        INodeFactory.CohortOpening[] memory two = new INodeFactory.CohortOpening[](2);
        two[0] = two[1] = INodeFactory.CohortOpening(1, START, INTERVAL);
        vm.expectRevert(INodeFactory.CohortBudgetExceeded.selector);
        vm.prank(MINTER);
        factory.openCohorts(3, two, block.timestamp);
        assertBudget(9, 1);
        vm.assertEq(open(), 3, "one is within it");
        assertBudget(9, 0);
        vm.expectRevert(INodeFactory.CohortBudgetExceeded.selector);
        vm.prank(MINTER);
        factory.openCohorts(4, opening(1, START, INTERVAL), block.timestamp);
        vm.assertEq(factory.lastId(), 0, "the field beside it is untouched");
    }

    function test_budgets_of_all_sizes_are_kept_whole(uint32 nodes, uint16 cohorts) public {
        setMinter(nodes, cohorts);
        assertBudget(nodes, cohorts);
        vm.assertEq(factory.lastCohort(), 2, "lastCohort");
        vm.assertEq(factory.minter(), MINTER, "minter");
    }

    // ------------------------------------------------------------------------------------------------------- refills

    function refill(uint256 nodes, uint256 nodesMost, uint256 cohorts, uint256 cohortsMost) internal {
        vm.prank(OWNER);
        factory.refillMinter(MINTER, nodes, nodesMost, cohorts, cohortsMost);
    }

    function test_a_refill_adds_no_further_than_up_to_its_most() public {
        mint(ALICE, DAILY);
        setMinter(10, 5);
        vm.expectEmit(true, true, true, true, address(factory));
        emit MinterRefilled(MINTER, 17, 8, 10, 5);
        refill(7, 20, 3, 9);
        assertBudget(17, 8);
        refill(7, 20, 3, 9);
        assertBudget(20, 9);
        refill(7, 20, 3, 9);
        assertBudget(20, 9);
        vm.assertEq(factory.lastId(), 1, "the field beside it is untouched");
        vm.assertEq(factory.lastCohort(), 2, "nor is this one");
    }

    function test_a_refill_never_lowers_a_budget() public {
        setMinter(10, 5);
        refill(1, 9, 1, 4);
        assertBudget(10, 5);
        refill(0, 11, 1, 4);
        assertBudget(10, 5);
    }

    function test_a_refill_of_any_size_stays_within_its_most(
        uint32 nodes,
        uint256 more,
        uint32 most,
        uint16 cohorts,
        uint256 moreCohorts,
        uint16 mostCohorts
    ) public {
        setMinter(nodes, cohorts);
        refill(more, most, moreCohorts, mostCohorts);
        assertBudget(expected(nodes, more, most), expected(cohorts, moreCohorts, mostCohorts));
    }

    function expected(uint256 left, uint256 more, uint256 most) internal pure returns (uint256) {
        if (left >= most) return left;
        return more >= most - left ? most : left + more;
    }

    function test_a_refill_fits_and_is_for_the_key_it_names() public {
        vm.expectRevert(INodeFactory.BudgetOutOfRange.selector);
        refill(1, 1 << 32, 1, 1);
        vm.expectRevert(INodeFactory.BudgetOutOfRange.selector);
        refill(1, 1, 1, 1 << 16);
        vm.prank(OWNER);
        factory.setMinter(BOB, MINTER, 10, 5);
        vm.expectRevert(INodeFactory.WrongKey.selector);
        refill(7, 20, 3, 9);
        assertBudget(10, 5);
    }

    function test_a_new_minter_comes_with_a_budget_of_its_own() public {
        setMinter(100, 50);
        vm.prank(OWNER);
        factory.setMinter(BOB, MINTER, 3, 2);
        assertBudget(3, 2);
    }

    // -------------------------------------------------------------------------------------------------------- bounds

    function test_a_turn_pays_within_the_bounds_or_the_round_reverts() public {
        mint(ALICE, DAILY);
        mint(BOB, OTHER);
        setBounds(3, 9);
        vm.warp(FIRST_DUE + 9 * INTERVAL);
        bytes4 reason = INodeFactory.AmountOutOfBounds.selector;
        refuseCredit(reason, turn(DAILY, 3 gwei - 1), 3 gwei - 1);
        refuseCredit(reason, turn(DAILY, 9 gwei + 1), 9 gwei + 1);
        refuseCredit(reason, turns(DAILY, 3 gwei, OTHER, 0), 3 gwei);
        refuseCredit(reason, turn(DAILY, type(uint256).max), 0);
        credit(turn(DAILY, 3 gwei), 3 gwei);
        credit(turn(DAILY, 9 gwei), 9 gwei);
    }

    function test_the_bounds_are_times_the_turns_that_are_paid() public {
        mint(ALICE, DAILY);
        setBounds(3, 9);
        vm.prank(OWNER);
        factory.addNotOwed(1, 0, NO_END);
        vm.warp(FIRST_DUE + 99 * INTERVAL);
        bytes4 reason = INodeFactory.AmountOutOfBounds.selector;
        refuseCredit(reason, entry(DAILY, 0, 5, 15 gwei - 1), 15 gwei - 1);
        refuseCredit(reason, entry(DAILY, 0, 5, 45 gwei + 1), 45 gwei + 1);
        refuseCredit(reason, entry(DAILY, 6, 5, 45 gwei + 1), 45 gwei + 1);
        refuseCredit(reason, entry(DAILY, 6, 0, 1), 1);
        credit(entry(DAILY, 0, 5, 15 gwei), 15 gwei);
        credit(entry(DAILY, 0, 5, 45 gwei), 45 gwei);
        credit(entry(DAILY, 6, 5, 45 gwei), 45 gwei);
        credit(entry(DAILY, 6, 0, 0), 0);
    }

    function test_bounds_fit_and_are_for_the_key_they_name() public {
        setBounds(1, 2);
        vm.expectRevert(INodeFactory.BoundsOutOfRange.selector);
        setBounds(3, 2);
        vm.expectRevert(INodeFactory.BoundsOutOfRange.selector);
        setBounds(3, 1 << 48);
        vm.expectEmit(true, true, true, true, address(factory));
        emit BoundsSet(DISTRIBUTOR, 2, 2, 1, 2);
        setBounds(2, 2);
        vm.prank(OWNER);
        factory.setDistributor(BOB, DISTRIBUTOR, 5, 6);
        vm.expectRevert(INodeFactory.WrongKey.selector);
        setBounds(1, 1);
        (uint256 floorGwei, uint256 ceilingGwei) = factory.bounds();
        vm.assertEq(floorGwei, 5, "the new key's floor");
        vm.assertEq(ceilingGwei, 6, "the new key's ceiling");
        vm.expectRevert(INodeFactory.BoundsOutOfRange.selector);
        vm.prank(OWNER);
        factory.setDistributor(BOB, BOB, 7, 6);
    }

    function test_bounds_of_all_sizes_are_kept_whole(uint48 floorGwei, uint48 ceilingGwei) public {
        if (floorGwei > ceilingGwei) (floorGwei, ceilingGwei) = (ceilingGwei, floorGwei);
        setBounds(floorGwei, ceilingGwei);
        (uint256 least, uint256 most) = factory.bounds();
        vm.assertEq(least, floorGwei, "floor");
        vm.assertEq(most, ceilingGwei, "ceiling");
        vm.assertEq(factory.distributor(), DISTRIBUTOR, "distributor");
    }

    // ----------------------------------------------------------------------------------------------------- validUntil

    function test_what_was_signed_ends_by_itself() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE + 1);
        INodeFactory.CohortCredit[] memory credits = turn(DAILY, 0);
        bytes4 reason = INodeFactory.Expired.selector;
        vm.expectRevert(reason);
        vm.prank(MINTER);
        factory.openCohorts(3, opening(1, START, INTERVAL), FIRST_DUE);
        vm.expectRevert(reason);
        vm.prank(MINTER);
        factory.mint(order(BOB, OTHER, "late"), 0, 0, FIRST_DUE);
        vm.expectRevert(reason);
        vm.prank(DISTRIBUTOR);
        factory.credit(1, 0, 0, FIRST_DUE, credits);
    }

    function test_a_call_is_good_in_its_last_second() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        INodeFactory.CohortCredit[] memory credits = turn(DAILY, 0);
        vm.prank(MINTER);
        factory.openCohorts(3, opening(1, START, INTERVAL), FIRST_DUE);
        vm.prank(MINTER);
        factory.mint(order(BOB, OTHER, "in time"), 0, 0, FIRST_DUE);
        vm.prank(DISTRIBUTOR);
        factory.credit(1, 0, 0, FIRST_DUE, credits);
    }
}
