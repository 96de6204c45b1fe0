// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @notice Owns the behaviour of expelling nodes that were never credited.
contract ExpellingTest is FactoryTest {
    event NodeExpelled(uint256 indexed nodeId, bytes32 indexed ref, uint256 indexed cohort);

    function list(bytes32 a, bytes32 b) internal pure returns (bytes32[] memory refs) {
        refs = new bytes32[](2);
        (refs[0], refs[1]) = (a, b);
    }

    function expel(bytes32 a, bytes32 b) internal {
        vm.prank(OWNER);
        factory.expel(list(a, b));
    }

    function cohortOf(uint256 id) internal view returns (uint256 cohort) {
        (,,,, cohort) = factory.nodeInfo(id);
    }

    function sizeOf(uint256 cohort) internal view returns (uint256 size) {
        (, size,,,) = factory.cohort(cohort);
    }

    function setUp() public override {
        super.setUp();
        mint(order(ALICE, DAILY, "good"));
        mint(order(BOB, DAILY, "rogue"));
        mint(order(BOB, OTHER, "another"));
    }

    function test_a_node_that_was_never_credited_leaves_its_cohort_for_the_closed_one() public {
        vm.expectEmit(true, true, true, true, address(factory));
        emit NodeExpelled(2, "rogue", DAILY);
        vm.expectEmit(true, true, true, true, address(factory));
        emit NodeExpelled(3, "another", OTHER);
        expel("rogue", "another");
        vm.assertEq(cohortOf(2), 0, "closed");
        vm.assertEq(cohortOf(3), 0, "closed");
        vm.assertEq(cohortOf(1), DAILY, "the other stays");
        vm.assertEq(sizeOf(DAILY), 1, "one left");
        vm.assertEq(sizeOf(OTHER), 0, "none left");
        vm.assertEq(factory.ownerOf(2), BOB, "it stays a token");
        vm.assertEq(factory.nodeOfRef("rogue"), 2, "its ref stays used");
        creditTurn(DAILY, 3 ether);
        vm.assertEq(balanceOfNode(1), 3 ether, "credited");
        vm.assertEq(balanceOfNode(2), 0, "not credited");
        vm.prank(BOB);
        factory.transferFrom(BOB, CAROL, 2);
        vm.assertEq(cohortOf(2), 0, "for good");
    }

    function test_a_node_is_expelled_also_while_its_turn_is_due() public {
        vm.warp(FIRST_DUE + 9 * INTERVAL);
        expel("rogue", "rogue");
        refuseCredit(INodeFactory.WrongValue.selector, turn(DAILY, 3 ether), 6 ether);
        credit(turn(DAILY, 3 ether), 3 ether);
    }

    function test_a_cohort_that_was_emptied_takes_nodes_again_from_its_next_turn_on() public {
        vm.warp(FIRST_DUE + 9 * INTERVAL);
        expel("another", "another");
        refuseCredit(INodeFactory.EmptyCohort.selector, turn(OTHER, 0), 0);
        mint(CAROL, OTHER);
        vm.assertEq(nextDueOf(OTHER), FIRST_DUE + 10 * INTERVAL, "in phase");
        vm.assertEq(sizeOf(OTHER), 1, "size");
    }

    function test_a_node_that_was_credited_is_never_touched() public {
        creditTurn(DAILY, 1);
        vm.recordLogs();
        expel("good", "rogue");
        vm.assertEq(vm.getRecordedLogs().length, 0, "passed over");
        vm.assertEq(cohortOf(1), DAILY, "stays");
        vm.assertEq(sizeOf(DAILY), 2, "both");
        vm.prank(ALICE);
        factory.withdraw(1, ALICE, 1);
        expel("good", "rogue");
        vm.assertEq(cohortOf(1), DAILY, "stays when it has withdrawn");
    }

    function test_a_node_minted_after_a_credit_was_not_credited_itself() public {
        creditTurn(DAILY, 3 ether);
        mint(order(CAROL, DAILY, "late"));
        expel("late", "good");
        vm.assertEq(cohortOf(4), 0, "expelled");
        (, uint256 balance, uint256 credited,,) = factory.nodeInfo(4);
        vm.assertEq(balance + credited, 0, "nothing is owed to it");
        vm.assertEq(balanceOfNode(1), 3 ether, "the other keeps its own");
        vm.assertEq(factory.outstanding(), 6 ether, "owed as before");
    }

    function test_refs_without_a_node_and_nodes_already_expelled_are_passed_over() public {
        expel("rogue", "rogue");
        vm.assertEq(sizeOf(DAILY), 1, "once");
        vm.recordLogs();
        expel("rogue", "unused");
        vm.assertEq(vm.getRecordedLogs().length, 0, "nothing to do");
        vm.assertEq(sizeOf(DAILY), 1, "as before");
        vm.assertEq(sizeOf(0), 0, "the closed cohort counts nothing");
    }

    function test_an_expelled_node_earns_nothing_and_withdraws_nothing() public {
        expel("rogue", "another");
        vm.warp(FIRST_DUE + INTERVAL);
        refuseCredit(INodeFactory.EmptyCohort.selector, turn(0, 1), 1);
        credit(turn(DAILY, 1 ether), 1 ether);
        vm.expectRevert(INodeFactory.BalanceExceeded.selector);
        vm.prank(BOB);
        factory.withdraw(2, BOB, 1);
    }

    function test_the_wallet_cap_counts_expelled_nodes_too() public {
        mintMany(BOB, CAP - 2);
        expel("rogue", "another");
        vm.assertEq(factory.balanceOf(BOB), CAP, "all of them");
        mint(order(BOB, DAILY, "more"));
        vm.assertEq(factory.nodeOfRef("more"), 0, "full");
    }
}
