// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @notice Owns the behaviour of rounds: which turn they pay, with what ether, and how intervals change.
contract CreditingTest is FactoryTest {
    event Credited(
        uint256 indexed round,
        uint256 indexed cohort,
        uint256 due,
        uint256 turns,
        uint256 amountPerNode,
        uint256 nodeCount
    );
    event SurplusSpent(uint256 indexed round, uint256 amount, uint256 allowance);
    event IntervalSet(uint256 indexed cohort, uint256 interval, uint256 former);

    // -------------------------------------------------------------------------------------------------------- turns

    function test_a_round_credits_each_node_of_its_cohorts_and_moves_their_turns_on() public {
        mint(ALICE, DAILY);
        mint(BOB, DAILY);
        mint(CAROL, OTHER);
        vm.warp(FIRST_DUE + 7);
        INodeFactory.CohortCredit[] memory credits = turns(DAILY, 3 ether, OTHER, 5 ether);
        vm.expectEmit(true, true, true, true, address(factory));
        emit Credited(1, DAILY, FIRST_DUE, 1, 3 ether, 2);
        vm.expectEmit(true, true, true, true, address(factory));
        emit Credited(1, OTHER, FIRST_DUE, 1, 5 ether, 1);
        creditAs(DISTRIBUTOR, 1, credits, 11 ether);

        vm.assertEq(balanceOfNode(1), 3 ether, "alice");
        vm.assertEq(balanceOfNode(2), 3 ether, "bob");
        vm.assertEq(balanceOfNode(3), 5 ether, "carol");
        vm.assertEq(factory.outstanding(), 11 ether, "outstanding");
        vm.assertEq(factory.creditedTotal(), 11 ether, "credited");
        vm.assertEq(factory.round(), 1, "round");
        vm.assertEq(nextDueOf(DAILY), FIRST_DUE + INTERVAL, "next turn by the schedule, not by the payment");
    }

    function test_a_node_gets_nothing_of_turns_before_its_mint() public {
        mint(ALICE, DAILY);
        creditTurn(DAILY, 3 ether);
        mint(BOB, DAILY);
        creditTurn(DAILY, 4 ether);
        vm.assertEq(balanceOfNode(1), 7 ether, "both turns");
        vm.assertEq(balanceOfNode(2), 4 ether, "the second only");
    }

    function test_missed_turns_may_be_paid_one_per_round_until_caught_up() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE + 2 * INTERVAL);
        for (uint256 i; i < 3; ++i) {
            vm.assertEq(nextDueOf(DAILY), FIRST_DUE + i * INTERVAL, "the turn owed");
            credit(turn(DAILY, 1 ether), 1 ether);
        }
        refuseCredit(INodeFactory.TurnNotDue.selector, turn(DAILY, 1 ether), 1 ether);
        vm.assertEq(balanceOfNode(1), 3 ether, "each once");
    }

    function test_a_turn_is_not_paid_before_its_time() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE - 1);
        refuseCredit(INodeFactory.TurnNotDue.selector, turn(DAILY, 1 ether), 1 ether);
        vm.warp(FIRST_DUE);
        credit(turn(DAILY, 1 ether), 1 ether);
    }

    function test_a_round_pays_a_cohort_once_even_when_more_turns_are_due() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE + INTERVAL);
        refuseCredit(INodeFactory.CohortTwiceInRound.selector, turns(DAILY, 1, DAILY, 1), 2);
        credit(turn(DAILY, 1), 1);
        credit(turn(DAILY, 1), 1);
        vm.assertEq(balanceOfNode(1), 2, "in two rounds");
    }

    function test_a_turn_of_zero_moves_the_cohort_on() public {
        mint(ALICE, DAILY);
        creditTurn(DAILY, 0);
        vm.assertEq(nextDueOf(DAILY), FIRST_DUE + INTERVAL, "moved on");
        vm.assertEq(factory.outstanding(), 0, "nothing owed");
    }

    function test_an_empty_or_unopened_cohort_cannot_be_credited() public {
        vm.warp(FIRST_DUE);
        refuseCredit(INodeFactory.EmptyCohort.selector, turn(DAILY, 1), 0);
        refuseCredit(INodeFactory.EmptyCohort.selector, turn(99, 1), 0);
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE + INTERVAL);
        refuseCredit(INodeFactory.EmptyCohort.selector, turn(DAILY + 65_536, 1), 1);
        refuseCredit(INodeFactory.EmptyCohort.selector, turn(0, 1), 1);
    }

    function test_rounds_are_numbered_without_gap() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        refuseRound(INodeFactory.WrongRound.selector, DISTRIBUTOR, 0, DAILY, 0);
        refuseRound(INodeFactory.WrongRound.selector, DISTRIBUTOR, 2, DAILY, 0);
        refuseRound(INodeFactory.WrongRound.selector, DISTRIBUTOR, 1 + (1 << 48), DAILY, 0);
        credit(turn(DAILY, 1), 1);
        vm.warp(FIRST_DUE + INTERVAL);
        refuseRound(INodeFactory.WrongRound.selector, DISTRIBUTOR, 1, DAILY, 0);
    }

    function test_a_round_names_a_cohort() public {
        refuseCredit(INodeFactory.EmptyRound.selector, new INodeFactory.CohortCredit[](0), 0);
    }

    function test_only_the_distributor_credits() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        refuseRound(INodeFactory.NotDistributor.selector, OWNER, 1, DAILY, 0);
        refuseRound(INodeFactory.NotDistributor.selector, MINTER, 1, DAILY, 0);
        refuseRound(INodeFactory.NotDistributor.selector, ALICE, 1, DAILY, 0);
    }

    function test_a_paused_factory_does_not_credit() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        vm.prank(OWNER);
        factory.pause();
        refuseCredit(INodeFactory.IsPaused.selector, turn(DAILY, 1), 1);
        vm.prank(OWNER);
        factory.unpause();
        credit(turn(DAILY, 1), 1);
    }

    // ------------------------------------------------------------------------------------------------------- amounts

    function test_the_value_sent_is_the_exact_total() public {
        mint(ALICE, DAILY);
        mint(BOB, DAILY);
        vm.warp(FIRST_DUE);
        vm.deal(address(factory), 10 ether);
        allow(10 ether);
        refuseCredit(INodeFactory.WrongValue.selector, turn(DAILY, 1 ether), 1 ether);
        refuseCredit(INodeFactory.WrongValue.selector, turn(DAILY, 1 ether), 2 ether + 1);
        refuseCredit(INodeFactory.WrongValue.selector, turn(DAILY, 0), 1);
        credit(turn(DAILY, 1 ether), 2 ether);
        vm.assertEq(factory.swapsAllowance(), 10 ether, "no surplus spent");
    }

    function test_a_nodes_credits_stop_at_80_bits() public {
        uint256 most = type(uint80).max;
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE + 8 * INTERVAL);
        refuseCredit(INodeFactory.AmountTooLarge.selector, entry(DAILY, 0, 5, most + 1), most + 1);
        credit(entry(DAILY, 0, 5, most - 1), most - 1);
        refuseCredit(INodeFactory.AmountTooLarge.selector, turn(DAILY, 2), 2);
        credit(turn(DAILY, 1), 1);
        vm.assertEq(balanceOfNode(1), most, "all of it");
        (, uint256 size,,,) = factory.cohort(DAILY);
        vm.assertEq(size, 1, "the field beside it is untouched");
    }

    function test_the_total_credited_stops_at_96_bits() public {
        // Books with 2^96 - 3 credited, and withdrawn.
        uint256 credited = type(uint96).max - 2;
        vm.store(address(factory), bytes32(BOOKS_SLOT), bytes32(credited | (credited << 96)));
        vm.assertEq(factory.creditedTotal(), credited, "the slot written here");
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        refuseCredit(INodeFactory.AmountTooLarge.selector, turn(DAILY, 3), 3);
        credit(turn(DAILY, 2), 2);
        vm.assertEq(factory.creditedTotal(), type(uint96).max, "all of it");
        vm.assertEq(factory.withdrawnTotal(), credited, "the field beside it is untouched");
    }

    // ------------------------------------------------------------------------------------------------------ surplus

    function test_a_round_without_value_spends_surplus_within_the_allowance() public {
        mint(ALICE, DAILY);
        vm.deal(address(factory), 5 ether);
        allow(4 ether);
        vm.warp(FIRST_DUE);
        refuseCredit(INodeFactory.AllowanceExceeded.selector, turn(DAILY, 4 ether + 1), 0);
        INodeFactory.CohortCredit[] memory credits = turn(DAILY, 3 ether);
        vm.expectEmit(true, true, true, true, address(factory));
        emit SurplusSpent(1, 3 ether, 1 ether);
        creditAs(DISTRIBUTOR, 1, credits, 0);
        vm.assertEq(factory.swapsAllowance(), 1 ether, "allowance spent");
        vm.assertEq(factory.outstanding(), 3 ether, "owed");
        vm.assertEq(address(factory).balance, 5 ether, "nothing moved");
    }

    function test_what_is_owed_is_not_surplus() public {
        mint(ALICE, DAILY);
        creditTurn(DAILY, 5 ether);
        allow(100 ether);
        vm.warp(FIRST_DUE + INTERVAL);
        refuseCredit(INodeFactory.SurplusExceeded.selector, turn(DAILY, 1), 0);
        vm.deal(address(factory), 7 ether);
        refuseCredit(INodeFactory.SurplusExceeded.selector, turn(DAILY, 2 ether + 1), 0);
        credit(turn(DAILY, 2 ether), 0);
        vm.assertTrue(factory.isSolvent(), "solvent");
    }

    function test_an_allowance_of_any_size_is_spent() public {
        mint(ALICE, DAILY);
        vm.deal(address(factory), 5 ether);
        allow(type(uint256).max);
        vm.warp(FIRST_DUE);
        credit(turn(DAILY, 3 ether), 0);
        vm.assertEq(factory.swapsAllowance(), type(uint256).max - 3 ether, "spent");
    }

    function test_a_round_with_its_ether_says_nothing_of_surplus() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        vm.recordLogs();
        credit(turn(DAILY, 3 ether), 3 ether);
        vm.assertEq(vm.getRecordedLogs().length, 1, "Credited alone");
    }

    function test_no_surplus_is_spent_until_the_owner_allows_it() public {
        mint(ALICE, DAILY);
        vm.deal(address(factory), 5 ether);
        vm.warp(FIRST_DUE);
        refuseCredit(INodeFactory.AllowanceExceeded.selector, turn(DAILY, 1), 0);
    }

    // ----------------------------------------------------------------------------------------------------- intervals

    function setInterval(uint256 cohort, uint256 interval) internal {
        vm.prank(OWNER);
        factory.setInterval(cohort, interval);
    }

    function refuseInterval(bytes4 reason, uint256 cohort, uint256 interval) internal {
        vm.expectRevert(reason);
        setInterval(cohort, interval);
    }

    function test_a_new_interval_holds_after_the_pending_turn() public {
        mint(ALICE, DAILY);
        vm.expectEmit(true, true, true, true, address(factory));
        emit IntervalSet(DAILY, 2 days, INTERVAL);
        setInterval(DAILY, 2 days);
        vm.assertEq(nextDueOf(DAILY), FIRST_DUE, "the pending turn keeps its time");
        creditTurn(DAILY, 1);
        vm.assertEq(nextDueOf(DAILY), FIRST_DUE + 2 days, "the one after follows the new interval");
        (uint256 perNode, uint256 size,, uint256 interval, uint256 tier) = factory.cohort(DAILY);
        vm.assertEq(perNode, 1, "perNode");
        vm.assertEq(size, 1, "size");
        vm.assertEq(interval, 2 days, "interval");
        vm.assertEq(tier, 7, "tier");
    }

    function test_a_due_turn_keeps_its_time_when_the_interval_changes() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE + 100);
        setInterval(DAILY, 101);
        credit(turn(DAILY, 1), 1);
        vm.assertEq(nextDueOf(DAILY), FIRST_DUE + 101, "ahead");
    }

    function test_a_new_interval_neither_drops_nor_invents_turns_that_have_passed() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE + 100);
        refuseInterval(INodeFactory.TurnsOverdue.selector, DAILY, 100);
        vm.warp(FIRST_DUE + INTERVAL - 1);
        setInterval(DAILY, 2 * INTERVAL);
        setInterval(DAILY, INTERVAL);
        vm.warp(FIRST_DUE + INTERVAL);
        refuseInterval(INodeFactory.TurnsOverdue.selector, DAILY, 2 * INTERVAL);
        credit(turn(DAILY, 1), 1);
        setInterval(DAILY, 2 * INTERVAL);
    }

    function test_an_empty_cohort_may_change_its_interval_at_any_time() public {
        vm.warp(FIRST_DUE + 9 * INTERVAL + 5);
        setInterval(DAILY, 60);
        mint(ALICE, DAILY);
        vm.assertEq(nextDueOf(DAILY), FIRST_DUE + 9 * INTERVAL + 60, "rolls at the new interval");
    }

    function test_an_interval_fits_and_belongs_to_an_open_cohort() public {
        refuseInterval(INodeFactory.CohortNotOpen.selector, 99, 60);
        refuseInterval(INodeFactory.CohortNotOpen.selector, 0, 60);
        refuseInterval(INodeFactory.ScheduleOutOfRange.selector, DAILY, LEAST_INTERVAL - 1);
        setInterval(DAILY, LEAST_INTERVAL);
        refuseInterval(INodeFactory.ScheduleOutOfRange.selector, DAILY, 1 << 32);
        setInterval(DAILY, (1 << 32) - 1);
    }

    function test_only_the_owner_changes_an_interval() public {
        vm.expectRevert(INodeFactory.NotOwner.selector);
        vm.prank(MINTER);
        factory.setInterval(DAILY, 60);
    }
}
