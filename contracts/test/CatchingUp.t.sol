// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @notice Owns the behaviour of rounds that pay or skip several turns of a cohort, and of the windows not owed.
contract CatchingUpTest is FactoryTest {
    event Credited(
        uint256 indexed round,
        uint256 indexed cohort,
        uint256 due,
        uint256 turns,
        uint256 amountPerNode,
        uint256 nodeCount
    );
    event TurnsSkipped(uint256 indexed round, uint256 indexed cohort, uint256 due, uint256 turns);
    event NotOwedSet(uint256 indexed window, uint256 from, uint256 until);

    function expectEvent() internal {
        vm.expectEmit(true, true, true, true, address(factory));
    }

    function add(uint256 window, uint256 from, uint256 until) internal {
        vm.prank(OWNER);
        factory.addNotOwed(window, from, until);
    }

    function end(uint256 window, uint256 until) internal {
        vm.prank(OWNER);
        factory.endNotOwed(window, until);
    }

    function dueNumber(uint256 number) internal pure returns (uint256) {
        return FIRST_DUE + number * INTERVAL;
    }

    // -------------------------------------------------------------------------------------------------- several turns

    function test_a_year_without_rounds_is_caught_up_in_one_step() public {
        mint(ALICE, DAILY);
        mint(BOB, DAILY);
        vm.warp(dueNumber(364));
        INodeFactory.CohortCredit[] memory credits = entry(DAILY, 0, 365, 365 ether);
        expectEvent();
        emit Credited(1, DAILY, FIRST_DUE, 365, 365 ether, 2);
        creditAs(DISTRIBUTOR, 1, credits, 730 ether);
        vm.assertEq(balanceOfNode(1), 365 ether, "all of it");
        vm.assertEq(nextDueOf(DAILY), dueNumber(365), "the turn after them");
        refuseCredit(INodeFactory.TurnNotDue.selector, turn(DAILY, 1), 2);
        mint(CAROL, DAILY);
    }

    function test_no_turn_is_paid_before_its_time_however_many_are_paid() public {
        mint(ALICE, DAILY);
        vm.warp(dueNumber(2) - 1);
        refuseCredit(INodeFactory.TurnNotDue.selector, entry(DAILY, 0, 3, 3), 3);
        credit(entry(DAILY, 0, 2, 2), 2);
    }

    function test_an_entry_names_the_pending_turn() public {
        mint(ALICE, DAILY);
        vm.warp(dueNumber(3));
        INodeFactory.CohortCredit[] memory credits = turn(DAILY, 1);
        credits[0].firstDue = dueNumber(1);
        refuseCredit(INodeFactory.WrongTurn.selector, credits, 1);
        credits[0].firstDue = FIRST_DUE + (1 << 40);
        refuseCredit(INodeFactory.WrongTurn.selector, credits, 1);
        credit(turn(DAILY, 1), 1);
    }

    function test_an_entry_without_turns_is_refused() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        refuseCredit(INodeFactory.NoTurns.selector, entry(DAILY, 0, 0, 0), 0);
    }

    function test_a_round_pays_2000_turns_at_most_in_all() public {
        mint(ALICE, DAILY);
        mint(ALICE, OTHER);
        vm.warp(dueNumber(5_000));
        bytes4 reason = INodeFactory.TooManyTurns.selector;
        refuseCredit(reason, entry(DAILY, 0, 2_001, 0), 0);
        refuseCredit(reason, entry(DAILY, 0, type(uint256).max, 0), 0);
        INodeFactory.CohortCredit[] memory credits = turns(DAILY, 0, OTHER, 0);
        (credits[0].paid, credits[1].paid) = (1_999, 2);
        refuseCredit(reason, credits, 0);
        credits[1].paid = 1;
        credit(credits, 0);
        credit(entry(DAILY, 0, 2_000, 0), 0);
        vm.assertEq(nextDueOf(DAILY), dueNumber(3_999), "DAILY");
    }

    // ---------------------------------------------------------------------------------------------------------- skips

    function test_turns_not_owed_are_skipped_in_one_step_of_any_length_and_the_rest_is_paid() public {
        mint(ALICE, DAILY);
        add(1, dueNumber(0), dueNumber(5_000));
        vm.warp(dueNumber(5_002));
        INodeFactory.CohortCredit[] memory credits = entry(DAILY, 5_000, 3, 3 ether);
        expectEvent();
        emit TurnsSkipped(1, DAILY, FIRST_DUE, 5_000);
        expectEvent();
        emit Credited(1, DAILY, dueNumber(5_000), 3, 3 ether, 1);
        creditAs(DISTRIBUTOR, 1, credits, 3 ether);
        vm.assertEq(nextDueOf(DAILY), dueNumber(5_003), "behind them all");
        vm.assertEq(balanceOfNode(1), 3 ether, "paid for three");
    }

    function test_skipped_turns_do_not_count_as_paid_ones() public {
        mint(ALICE, DAILY);
        mint(ALICE, OTHER);
        add(1, dueNumber(0), dueNumber(2_001));
        vm.warp(dueNumber(9_000));
        INodeFactory.CohortCredit[] memory credits = turns(DAILY, 0, OTHER, 0);
        (credits[0].skipped, credits[0].paid) = (2_001, 1_000);
        (credits[1].skipped, credits[1].paid) = (2_001, 1_001);
        refuseCredit(INodeFactory.TooManyTurns.selector, credits, 0);
        credits[1].paid = 1_000;
        credit(credits, 0);
        vm.assertEq(nextDueOf(DAILY), dueNumber(3_001), "DAILY");
        vm.assertEq(nextDueOf(OTHER), dueNumber(3_001), "OTHER");
    }

    function test_a_credit_that_only_skips_takes_a_round_number() public {
        mint(ALICE, DAILY);
        add(1, 0, NO_END);
        vm.warp(FIRST_DUE);
        INodeFactory.CohortCredit[] memory credits = entry(DAILY, 1, 0, 0);
        vm.recordLogs();
        creditAs(DISTRIBUTOR, 1, credits, 0);
        vm.assertEq(vm.getRecordedLogs().length, 1, "TurnsSkipped alone");
        vm.assertEq(factory.round(), 1, "round");
        vm.assertEq(nextDueOf(DAILY), dueNumber(1), "moved on");
        mint(BOB, DAILY);
    }

    function test_a_turn_that_is_owed_is_not_skipped() public {
        mint(ALICE, DAILY);
        vm.warp(dueNumber(9));
        bytes4 reason = INodeFactory.TurnOwed.selector;
        refuseCredit(reason, entry(DAILY, 1, 0, 0), 0);
        add(1, dueNumber(0) + 1, dueNumber(9));
        refuseCredit(reason, entry(DAILY, 1, 0, 0), 0);
        refuseCredit(reason, entry(DAILY, 3, 1, 1), 1);
        credit(turn(DAILY, 1), 1);
        refuseCredit(reason, entry(DAILY, 9, 0, 0), 0);
        credit(entry(DAILY, 8, 1, 1), 1);
        vm.assertEq(balanceOfNode(1), 2, "both that were owed");
    }

    function test_a_window_holds_its_first_second_and_not_its_last() public {
        mint(ALICE, DAILY);
        vm.warp(dueNumber(2));
        add(1, dueNumber(0), dueNumber(1));
        refuseCredit(INodeFactory.TurnOwed.selector, entry(DAILY, 2, 0, 0), 0);
        credit(entry(DAILY, 1, 1, 1), 1);
    }

    function test_a_turn_that_lies_ahead_is_not_skipped() public {
        mint(ALICE, DAILY);
        add(1, 0, NO_END);
        vm.warp(dueNumber(2) - 1);
        bytes4 reason = INodeFactory.TurnNotDue.selector;
        refuseCredit(reason, entry(DAILY, 3, 0, 0), 0);
        refuseCredit(reason, entry(DAILY, 1 << 40, 0, 0), 0);
        refuseCredit(reason, entry(DAILY, type(uint256).max, 1, 0), 0);
        refuseCredit(reason, entry(DAILY, type(uint256).max / INTERVAL + 1, 0, 0), 0);
        credit(entry(DAILY, 2, 0, 0), 0);
    }

    function test_windows_before_and_after_are_passed_over() public {
        mint(ALICE, DAILY);
        add(1, dueNumber(0), dueNumber(2));
        add(2, dueNumber(4), dueNumber(6));
        add(3, dueNumber(8), NO_END);
        vm.warp(dueNumber(9));
        refuseCredit(INodeFactory.TurnOwed.selector, entry(DAILY, 5, 0, 0), 0);
        credit(entry(DAILY, 2, 2, 2), 2);
        refuseCredit(INodeFactory.TurnOwed.selector, entry(DAILY, 3, 0, 0), 0);
        credit(entry(DAILY, 2, 0, 0), 0);
        refuseCredit(INodeFactory.TurnOwed.selector, entry(DAILY, 1, 0, 0), 0);
        credit(entry(DAILY, 0, 2, 2), 2);
        credit(entry(DAILY, 2, 0, 0), 0);
        vm.assertEq(nextDueOf(DAILY), dueNumber(10), "through them all");
        vm.assertEq(balanceOfNode(1), 4, "four were owed");
    }

    // -------------------------------------------------------------------------------------------------------- windows

    function assertWindow(uint256 window, uint256 from, uint256 until) internal view {
        (uint256 actualFrom, uint256 actualUntil) = factory.notOwed(window);
        vm.assertEq(actualFrom, from, "from");
        vm.assertEq(actualUntil, until, "until");
    }

    function refuseAdd(bytes4 reason, uint256 window, uint256 from, uint256 until) internal {
        vm.expectRevert(reason);
        add(window, from, until);
    }

    function test_a_window_is_added_in_its_turn_and_says_so() public {
        refuseAdd(INodeFactory.WrongWindow.selector, 0, 5, 9);
        refuseAdd(INodeFactory.WrongWindow.selector, 2, 5, 9);
        refuseAdd(INodeFactory.WindowOutOfRange.selector, 1, 9, 9);
        refuseAdd(INodeFactory.WindowOutOfRange.selector, 1, 5, 1 << 40);
        expectEvent();
        emit NotOwedSet(1, 5, 9);
        add(1, 5, 9);
        refuseAdd(INodeFactory.WrongWindow.selector, 1, 10, 12);
        refuseAdd(INodeFactory.WindowOutOfRange.selector, 2, 8, 12);
        add(2, 9, NO_END);
        refuseAdd(INodeFactory.WindowOutOfRange.selector, 3, NO_END - 1, NO_END);
        assertWindow(1, 5, 9);
        assertWindow(2, 9, NO_END);
        assertWindow(0, 0, 0);
        assertWindow(3, 0, 0);
        vm.assertEq(factory.notOwedCount(), 2, "count");
    }

    function refuseEnd(bytes4 reason, uint256 window, uint256 until) internal {
        vm.expectRevert(reason);
        end(window, until);
    }

    function test_a_window_never_ends_in_the_past() public {
        refuseEnd(INodeFactory.WrongWindow.selector, 0, START);
        add(1, 5, NO_END);
        refuseEnd(INodeFactory.WindowOutOfRange.selector, 1, NO_END);
        end(1, START + 100);
        assertWindow(1, 5, START + 100);
        refuseEnd(INodeFactory.WindowOutOfRange.selector, 1, START + 101);
        expectEvent();
        emit NotOwedSet(1, 5, START);
        end(1, 0);
        assertWindow(1, 5, START);
        vm.warp(START + 1);
        refuseEnd(INodeFactory.WindowOutOfRange.selector, 1, 0);
        add(2, START + 50, NO_END);
        refuseEnd(INodeFactory.WrongWindow.selector, 1, START + 1);
        refuseEnd(INodeFactory.WrongWindow.selector, 3, START + 1);
    }

    function test_a_window_that_has_not_begun_can_be_taken_back() public {
        mint(ALICE, DAILY);
        add(1, FIRST_DUE, NO_END);
        end(1, 0);
        assertWindow(1, FIRST_DUE, FIRST_DUE);
        vm.warp(FIRST_DUE);
        refuseCredit(INodeFactory.TurnOwed.selector, entry(DAILY, 1, 0, 0), 0);
    }

    function test_what_was_not_owed_stays_so_once_the_window_has_ended() public {
        mint(ALICE, DAILY);
        add(1, 0, NO_END);
        vm.warp(dueNumber(5) + 1);
        end(1, 0);
        vm.warp(dueNumber(6));
        credit(entry(DAILY, 6, 1, 1), 1);
        vm.assertEq(balanceOfNode(1), 1, "the first that is owed");
    }
}
