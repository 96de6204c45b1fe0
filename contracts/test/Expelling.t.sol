// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @notice Owns the behaviour of expelling nodes: those that were never credited, and those of the window after a mint.
contract ExpellingTest is FactoryTest {
    event NodeExpelled(uint256 indexed nodeId, bytes32 indexed ref, uint256 indexed cohort, uint256 credited);

    /// @dev Two turns of a day are shorter than a week.
    uint256 internal constant WINDOW = 2 * INTERVAL;

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
        emit NodeExpelled(2, "rogue", DAILY, 0);
        vm.expectEmit(true, true, true, true, address(factory));
        emit NodeExpelled(3, "another", OTHER, 0);
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

    function test_a_node_that_was_credited_is_passed_over_once_its_window_is_over() public {
        creditTurn(DAILY, 1);
        vm.warp(START + WINDOW);
        vm.recordLogs();
        expel("good", "rogue");
        vm.assertEq(vm.getRecordedLogs().length, 0, "passed over");
        vm.assertEq(cohortOf(1), DAILY, "stays");
        vm.assertEq(sizeOf(DAILY), 2, "both");
        assertSupply(TIER, 3, NO_CAP);
        vm.prank(ALICE);
        factory.withdraw(1, ALICE, 1);
        expel("good", "rogue");
        vm.assertEq(cohortOf(1), DAILY, "stays when it has withdrawn");
        expel("another", "another");
        vm.assertEq(cohortOf(3), 0, "one that was never credited leaves at any time");
    }

    function test_a_node_that_was_credited_leaves_within_its_window_with_what_it_was_credited() public {
        creditTurn(DAILY, 3 ether);
        vm.prank(BOB);
        factory.withdraw(2, BOB, 1 ether);
        vm.warp(START + WINDOW - 1);
        vm.expectEmit(true, true, true, true, address(factory));
        emit NodeExpelled(2, "rogue", DAILY, 3 ether);
        expel("rogue", "unused");
        assertNode(2, 0, 3 ether, 1 ether);
        vm.assertEq(factory.outstanding(), 5 ether, "owed as before");
        vm.assertEq(sizeOf(DAILY), 1, "out of the size");
        creditTurn(DAILY, 4 ether);
        assertNode(1, DAILY, 7 ether, 0);
        assertNode(2, 0, 3 ether, 1 ether);
        expel("rogue", "rogue");
        assertNode(2, 0, 3 ether, 1 ether);
        vm.prank(BOB);
        factory.transferFrom(BOB, CAROL, 2);
        uint256[] memory one = new uint256[](1);
        one[0] = 2;
        vm.prank(CAROL);
        factory.withdrawAll(one, CAROL);
        vm.assertEq(CAROL.balance, 2 ether, "all that it had, and no more");
        assertNode(2, 0, 3 ether, 3 ether);
        vm.expectRevert(INodeFactory.BalanceExceeded.selector);
        vm.prank(CAROL);
        factory.withdraw(2, CAROL, 1);
        vm.assertEq(factory.outstanding(), 7 ether, "the others' own");
    }

    function assertNode(uint256 id, uint256 cohort, uint256 credited, uint256 withdrawn) internal view {
        (, uint256 balanceNow, uint256 creditedNow, uint256 withdrawnNow, uint256 cohortNow) = factory.nodeInfo(id);
        vm.assertEq(cohortNow, cohort, "cohort");
        vm.assertEq(creditedNow, credited, "credited");
        vm.assertEq(withdrawnNow, withdrawn, "withdrawn");
        vm.assertEq(balanceNow, credited - withdrawn, "balance");
    }

    function test_an_expelled_node_keeps_any_credit_to_the_wei(uint80 before, uint80 amount, uint80 withdrawn) public {
        uint80 most = uint80(CEILING_GWEI * 1 gwei);
        before = uint80(bound(before, 0, most));
        amount = uint80(bound(amount, 0, type(uint80).max - before < most ? type(uint80).max - before : most));
        withdrawn = uint80(bound(withdrawn, 0, amount));
        creditTurn(DAILY, before);
        mint(order(CAROL, DAILY, "late"));
        creditTurn(DAILY, amount);
        if (withdrawn != 0) {
            vm.prank(CAROL);
            factory.withdraw(4, CAROL, withdrawn);
        }
        expel("late", "unused");
        assertNode(4, 0, amount, withdrawn);
        vm.assertEq(factory.outstanding(), 2 * (uint256(before) + amount) + amount - withdrawn, "owed as before");
        if (amount == withdrawn) return;
        vm.prank(CAROL);
        factory.withdraw(4, CAROL, amount - withdrawn);
        assertNode(4, 0, amount, amount);
    }

    function test_the_window_is_a_week_where_two_turns_take_longer() public {
        uint256 slow = open(TIER, START + 1 hours, 30 days);
        mint(order(BOB, slow, "early"));
        mint(order(BOB, slow, "late"));
        creditTurn(slow, 1 ether);
        vm.warp(START + EXPULSION_PERIOD - 1);
        expel("early", "unused");
        vm.assertEq(cohortOf(4), 0, "within it");
        vm.warp(START + EXPULSION_PERIOD);
        expel("late", "unused");
        vm.assertEq(cohortOf(5), slow, "beyond it");
    }

    function test_the_window_follows_the_interval_up_to_its_most() public {
        uint256 fast = open(TIER, START + 1 hours, 1 hours);
        mint(order(BOB, fast, "early"));
        mint(order(BOB, fast, "late"));
        creditTurn(fast, 1 ether);
        vm.warp(START + 2 hours);
        expel("early", "unused");
        vm.assertEq(cohortOf(4), fast, "beyond two turns of an hour");
        creditTurn(fast, 1 ether);
        vm.prank(OWNER);
        factory.setInterval(fast, 365 days);
        vm.warp(START + EXPULSION_PERIOD - 1);
        expel("early", "unused");
        vm.assertEq(cohortOf(4), 0, "within two turns of a year, and a week");
        vm.warp(START + EXPULSION_PERIOD);
        expel("late", "unused");
        vm.assertEq(cohortOf(5), fast, "beyond the week");
    }

    function setInterval(uint256 cohort, uint256 interval) internal {
        vm.prank(OWNER);
        factory.setInterval(cohort, interval);
    }

    function test_a_longer_interval_opens_a_window_again_and_a_shorter_one_ends_it() public {
        creditTurn(DAILY, 1 ether);
        vm.warp(START + WINDOW);
        expel("rogue", "unused");
        vm.assertEq(cohortOf(2), DAILY, "over after two intervals");
        setInterval(DAILY, 30 days);
        vm.warp(START + EXPULSION_PERIOD - 1);
        creditTurn(DAILY, 1 ether);
        setInterval(DAILY, 3 days);
        expel("rogue", "unused");
        vm.assertEq(cohortOf(2), DAILY, "two intervals of three days are over");
        setInterval(DAILY, 4 days);
        expel("rogue", "unused");
        vm.assertEq(cohortOf(2), 0, "two of four days are not");
        vm.warp(START + EXPULSION_PERIOD);
        setInterval(DAILY, 365 days);
        expel("good", "unused");
        vm.assertEq(cohortOf(1), DAILY, "nothing opens it after the period");
    }

    /// @dev The runbook's way if two intervals were too short for the owner: it takes the distributor's role, says that the
    /// overdue turns are not owed, skips them, lengthens the interval, and expels.
    function test_an_owner_that_comes_late_skips_what_is_overdue_before_it_lengthens_the_interval() public {
        creditTurn(DAILY, 1);
        vm.warp(FIRST_DUE + 3 * INTERVAL);
        vm.expectRevert(INodeFactory.TurnsOverdue.selector);
        setInterval(DAILY, 30 days);
        vm.prank(OWNER);
        factory.setDistributor(OWNER, DISTRIBUTOR, 0, CEILING_GWEI);
        vm.prank(OWNER);
        factory.addNotOwed(1, FIRST_DUE, block.timestamp + 1);
        creditAs(OWNER, 2, entry(DAILY, 3, 0, 0), 0);
        setInterval(DAILY, 30 days);
        expel("rogue", "unused");
        vm.assertEq(cohortOf(2), 0, "expelled");
        assertNode(1, DAILY, 1, 0);
    }

    function test_a_factory_without_a_window_never_expels_a_node_that_was_credited() public {
        INodeFactory.Setup memory setup = setupOf(OWNER, CAP);
        setup.expulsionPeriod = 0;
        factory = deploy(setup);
        open();
        mint(order(ALICE, DAILY, "good"));
        creditTurn(DAILY, 1);
        expel("good", "good");
        vm.assertEq(cohortOf(1), DAILY, "stays");
    }

    function test_a_thief_of_both_keys_stops_no_cohort_for_longer_than_its_window() public {
        // The rogue node's turn is paid by the thief, with a wei for each node of the cohort.
        vm.warp(FIRST_DUE);
        credit(turn(DAILY, 1), 2);
        expel("rogue", "unused");
        creditTurn(DAILY, 5 ether);
        assertNode(1, DAILY, 5 ether + 1, 0);
        assertNode(2, 0, 1, 0);
    }

    function test_an_expelled_node_shows_what_it_has() public {
        creditTurn(DAILY, 3 ether);
        bytes32 before = factory.getStateFingerprint(2);
        expel("rogue", "unused");
        vm.assertTrue(factory.getStateFingerprint(2) != before, "no longer what a buyer was shown");
        INodeFactory.NodeView[] memory views = factory.nodesInfo(2, 1);
        vm.assertEq(views[0].credited, 3 ether, "credited");
        vm.assertEq(views[0].balance, 3 ether, "balance");
        vm.assertEq(views[0].cohort, 0, "cohort");
    }

    function test_an_expelled_ref_mints_no_other_node() public {
        creditTurn(DAILY, 1);
        expel("rogue", "another");
        mint(order(BOB, DAILY, "rogue"));
        mint(order(CAROL, OTHER, "another"));
        vm.assertEq(factory.lastId(), 3, "none");
        vm.assertEq(factory.nodeOfRef("rogue"), 2, "its ref stays used");
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
