// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @dev A wallet that refuses everything: a mint must not ask it.
contract Hermit {
    fallback() external payable {
        revert();
    }
}

/// @notice Owns the behaviour of cohorts being opened and nodes being minted.
contract MintingTest is FactoryTest {
    event NodeMinted(uint256 indexed nodeId, address indexed owner, bytes32 indexed ref, uint256 cohort);
    event MintSkipped(bytes32 indexed ref, uint256 reason);
    event RefTaken(bytes32 indexed ref, uint256 indexed nodeId, address indexed to);
    event CohortOpened(uint256 indexed cohort, uint256 tier, uint256 firstDue, uint256 interval);
    event Transfer(address indexed from, address indexed to, uint256 indexed id);

    bytes32 internal constant REF = keccak256("payment");

    function expectSkip(bytes32 ref, uint256 reason) internal {
        vm.expectEmit(true, true, true, true, address(factory));
        emit MintSkipped(ref, reason);
    }

    // ------------------------------------------------------------------------------------------------------ opening

    function refuseOpening(bytes4 reason, uint256 first, INodeFactory.CohortOpening[] memory openings) internal {
        vm.expectRevert(reason);
        vm.prank(MINTER);
        factory.openCohorts(first, openings, block.timestamp);
    }

    function test_opening_a_cohort_stores_its_schedule_and_says_so() public {
        skipToCohort(65_535);
        vm.expectEmit(true, true, true, true, address(factory));
        emit CohortOpened(65_535, 65_534, START + 5, 60);
        vm.prank(MINTER);
        factory.openCohorts(65_535, opening(65_534, START + 5, 60), block.timestamp);
        (uint256 perNode, uint256 size, uint256 nextDue, uint256 interval, uint256 tier) = factory.cohort(65_535);
        vm.assertEq(perNode, 0, "perNode");
        vm.assertEq(size, 0, "size");
        vm.assertEq(nextDue, START + 5, "nextDue");
        vm.assertEq(interval, 60, "interval");
        vm.assertEq(tier, 65_534, "tier");
        vm.assertEq(factory.lastCohort(), 65_535, "lastCohort");
    }

    function pair(uint256 interval) internal pure returns (INodeFactory.CohortOpening[] memory openings) {
        openings = new INodeFactory.CohortOpening[](2);
        openings[0] = INodeFactory.CohortOpening(3, START + 1, 60);
        openings[1] = INodeFactory.CohortOpening(4, START + 2, interval);
    }

    function test_cohorts_are_numbered_by_a_counter_in_the_order_of_the_call() public {
        vm.prank(MINTER);
        factory.openCohorts(3, pair(61), block.timestamp);
        (,, uint256 nextDue, uint256 interval, uint256 tier) = factory.cohort(4);
        vm.assertEq(nextDue, START + 2, "nextDue");
        vm.assertEq(interval, 61, "interval");
        vm.assertEq(tier, 4, "tier");
        (,,,, tier) = factory.cohort(3);
        vm.assertEq(tier, 3, "tier of the first");
        vm.assertEq(factory.lastCohort(), 4, "lastCohort");
        vm.assertEq(factory.lastId(), 0, "the field beside it is untouched");
    }

    function test_several_cohorts_open_all_or_none() public {
        refuseOpening(INodeFactory.ScheduleOutOfRange.selector, 3, pair(59));
        (,,, uint256 interval,) = factory.cohort(3);
        vm.assertEq(interval, 0, "none opened");
        vm.assertEq(factory.lastCohort(), 2, "none counted");
    }

    function test_an_opening_names_the_next_number_so_one_sent_again_opens_nothing() public {
        refuseOpening(INodeFactory.WrongCohort.selector, 0, pair(61));
        refuseOpening(INodeFactory.WrongCohort.selector, 2, pair(61));
        refuseOpening(INodeFactory.WrongCohort.selector, 4, pair(61));
        refuseOpening(INodeFactory.WrongCohort.selector, 3 + (1 << 16), pair(61));
        vm.prank(MINTER);
        factory.openCohorts(3, pair(61), block.timestamp);
        refuseOpening(INodeFactory.WrongCohort.selector, 3, pair(61));
    }

    function test_number_0_is_never_given_and_takes_no_nodes() public {
        factory = deploy(OWNER, CAP);
        refuseOpening(INodeFactory.WrongCohort.selector, 0, pair(61));
        vm.assertEq(open(), 1, "the first");
        expectSkip(REF, 2);
        mint(order(ALICE, 0, REF));
    }

    function test_cohort_numbers_end_at_16_bits() public {
        skipToCohort(65_535);
        refuseOpening(INodeFactory.CohortNumbersExhausted.selector, 65_535, pair(61));
        open();
        refuseOpening(INodeFactory.CohortNumbersExhausted.selector, 65_536, opening(1, START, 60));
        mint(ALICE, 65_535);
        (,,,, uint256 cohort) = factory.nodeInfo(1);
        vm.assertEq(cohort, 65_535, "the last cohort takes nodes");
        creditTurn(65_535, 3 ether);
        vm.assertEq(balanceOfNode(1), 3 ether, "and pays them");
    }

    function test_only_the_minter_opens_cohorts() public {
        address[4] memory others = [OWNER, DISTRIBUTOR, ALICE, address(0)];
        for (uint256 i; i < others.length; ++i) {
            vm.expectRevert(INodeFactory.NotMinter.selector);
            vm.prank(others[i]);
            factory.openCohorts(3, pair(61), block.timestamp);
        }
    }

    function test_a_paused_factory_opens_nothing() public {
        vm.prank(OWNER);
        factory.pause();
        refuseOpening(INodeFactory.IsPaused.selector, 3, pair(61));
        vm.prank(OWNER);
        factory.unpause();
        open();
    }

    function test_what_does_not_fit_a_cohorts_slot_is_refused() public {
        bytes4 reason = INodeFactory.ScheduleOutOfRange.selector;
        refuseOpening(reason, 3, opening(65_536, START, 60));
        refuseOpening(reason, 3, opening(1, 0, 60));
        refuseOpening(reason, 3, opening(1, 1 << 40, 60));
        refuseOpening(reason, 3, opening(1, START, LEAST_INTERVAL - 1));
        refuseOpening(reason, 3, opening(1, START, 0));
        refuseOpening(reason, 3, opening(1, START, 1 << 32));
        open(65_535, (1 << 40) - 1, (1 << 32) - 1);
        open(0, 1, LEAST_INTERVAL);
    }

    // ------------------------------------------------------------------------------------------------------ minting

    function test_a_mint_gives_the_next_id_to_its_wallet_and_remembers_the_ref() public {
        vm.expectEmit(true, true, true, true, address(factory));
        emit Transfer(address(0), ALICE, 1);
        vm.expectEmit(true, true, true, true, address(factory));
        emit NodeMinted(1, ALICE, REF, DAILY);
        mint(order(ALICE, DAILY, REF));
        vm.assertEq(factory.ownerOf(1), ALICE, "owner");
        vm.assertEq(factory.nodeOfRef(REF), 1, "ref");
        vm.assertEq(factory.lastId(), 1, "lastId");
        (, uint256 size,,,) = factory.cohort(DAILY);
        vm.assertEq(size, 1, "size");
        (address owner, uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohort) = factory.nodeInfo(1);
        vm.assertEq(owner, ALICE, "owner");
        vm.assertEq(balance + credited + withdrawn, 0, "nothing yet");
        vm.assertEq(cohort, DAILY, "cohort");
    }

    function test_a_used_ref_is_skipped_silently_for_the_wallet_that_has_its_node() public {
        mint(order(ALICE, DAILY, REF));
        vm.recordLogs();
        mint(order(ALICE, OTHER, REF));
        vm.assertEq(vm.getRecordedLogs().length, 0, "not a word");
        vm.assertEq(factory.lastId(), 1, "no node");
    }

    function test_a_used_ref_whose_node_is_anothers_is_told() public {
        mint(order(ALICE, DAILY, REF));
        vm.expectEmit(true, true, true, true, address(factory));
        emit RefTaken(REF, 1, BOB);
        mint(order(BOB, OTHER, REF));
        vm.assertEq(factory.lastId(), 1, "no node");
        vm.prank(ALICE);
        factory.transferFrom(ALICE, BOB, 1);
        vm.recordLogs();
        mint(order(BOB, OTHER, REF));
        vm.assertEq(vm.getRecordedLogs().length, 0, "silent for the new owner");
        vm.expectEmit(true, true, true, true, address(factory));
        emit RefTaken(REF, 1, address(0));
        mint(order(address(0), OTHER, REF));
    }

    function test_a_ref_is_used_once_within_a_call_too() public {
        mint(order(ALICE, DAILY, REF));
        INodeFactory.Order[] memory orders = new INodeFactory.Order[](3);
        orders[0] = INodeFactory.Order(ALICE, OTHER, REF);
        orders[1] = INodeFactory.Order(BOB, OTHER, "fresh");
        orders[2] = INodeFactory.Order(BOB, OTHER, "fresh");
        vm.recordLogs();
        mint(orders);
        vm.assertEq(vm.getRecordedLogs().length, 2, "Transfer and NodeMinted of one node");
        vm.assertEq(factory.lastId(), 2, "one more");
        vm.assertEq(factory.ownerOf(2), BOB, "the first order with the ref");
        vm.assertEq(factory.nodeOfRef(REF), 1, "ref stands");
    }

    function test_the_first_reason_that_applies_is_told_in_the_order_3_1_2_4() public {
        mintMany(ALICE, CAP);
        vm.prank(OWNER);
        factory.setMinter(MINTER, MINTER, 0, 0);
        INodeFactory.Order[] memory orders = new INodeFactory.Order[](4);
        orders[0] = INodeFactory.Order(address(factory), 77, "impossible");
        orders[1] = INodeFactory.Order(ALICE, 77, "full");
        orders[2] = INodeFactory.Order(BOB, 77, "unopened");
        orders[3] = INodeFactory.Order(BOB, DAILY, "budget");
        expectSkip("impossible", 3);
        expectSkip("full", 1);
        expectSkip("unopened", 2);
        expectSkip("budget", 4);
        vm.recordLogs();
        mint(orders);
        vm.assertEq(vm.getRecordedLogs().length, 4, "one reason each");
    }

    function test_bad_orders_never_stop_the_good_ones() public {
        mintMany(ALICE, CAP);
        INodeFactory.Order[] memory orders = new INodeFactory.Order[](6);
        orders[0] = INodeFactory.Order(ALICE, DAILY, "full");
        orders[1] = INodeFactory.Order(BOB, 77, "unopened");
        orders[2] = INodeFactory.Order(address(0), DAILY, "zero");
        orders[3] = INodeFactory.Order(address(factory), DAILY, "factory");
        orders[4] = INodeFactory.Order(BOB, DAILY + 65_536, "beyond 16 bits");
        orders[5] = INodeFactory.Order(BOB, DAILY, "good");
        expectSkip("full", 1);
        expectSkip("unopened", 2);
        expectSkip("zero", 3);
        expectSkip("factory", 3);
        expectSkip("beyond 16 bits", 2);
        mint(orders);
        vm.assertEq(factory.lastId(), CAP + 1, "one more");
        vm.assertEq(factory.nodeOfRef("good"), CAP + 1, "the good one");
        vm.assertEq(factory.nodeOfRef("full"), 0, "a skipped ref stays free");
    }

    function test_the_cap_counts_nodes_of_the_same_batch() public {
        INodeFactory.Order[] memory orders = new INodeFactory.Order[](CAP + 1);
        for (uint256 i; i <= CAP; ++i) {
            orders[i] = INodeFactory.Order(ALICE, DAILY, bytes32(i + 1));
        }
        expectSkip(bytes32(CAP + 1), 1);
        mint(orders);
        vm.assertEq(factory.balanceOf(ALICE), CAP, "at the cap");
    }

    function test_a_cohort_whose_turn_is_due_does_not_grow_until_it_is_paid() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        expectSkip(REF, 2);
        mint(order(BOB, DAILY, REF));
        creditTurn(DAILY, 1 ether);
        mint(order(BOB, DAILY, REF));
        vm.assertEq(factory.nodeOfRef(REF), 2, "minted once paid");
        vm.assertEq(balanceOfNode(2), 0, "not paid for a turn before its mint");
    }

    function test_one_second_before_its_turn_a_cohort_still_grows() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE - 1);
        vm.assertEq(mint(BOB, DAILY), 2, "minted");
    }

    function test_an_empty_cohort_rolls_its_turn_forward_in_phase() public {
        vm.warp(FIRST_DUE + 3 * INTERVAL + 5);
        mint(ALICE, DAILY);
        (,, uint256 nextDue,,) = factory.cohort(DAILY);
        vm.assertEq(nextDue, FIRST_DUE + 4 * INTERVAL, "first turn after now");
    }

    function test_an_empty_cohort_whose_turn_is_this_second_rolls_to_the_next() public {
        vm.warp(FIRST_DUE);
        mint(ALICE, DAILY);
        (,, uint256 nextDue,,) = factory.cohort(DAILY);
        vm.assertEq(nextDue, FIRST_DUE + INTERVAL, "strictly after now");
    }

    function test_a_first_turn_in_the_past_can_never_be_paid() public {
        uint256 cohort = open(1, 1, 60);
        refuseCredit(INodeFactory.EmptyCohort.selector, turn(cohort, 0), 0);
        mint(ALICE, cohort);
        uint256 nextDue = nextDueOf(cohort);
        vm.assertEq(nextDue % 60, 1, "phase kept");
        vm.assertTrue(nextDue > block.timestamp && nextDue <= block.timestamp + 60, "within an interval");
    }

    function test_an_empty_cohort_rolls_in_phase_whatever_its_schedule(uint40 firstDue, uint32 interval, uint32 now_)
        public
    {
        firstDue = uint40(bound(firstDue, 1, type(uint32).max));
        interval = uint32(bound(interval, LEAST_INTERVAL, type(uint32).max));
        vm.warp(now_);
        uint256 cohort = open(1, firstDue, interval);
        mint(ALICE, cohort);
        uint256 nextDue = nextDueOf(cohort);
        vm.assertTrue(nextDue > now_, "ahead");
        vm.assertEq((nextDue - firstDue) % interval, 0, "in phase");
        vm.assertTrue(nextDue == firstDue || nextDue - interval <= now_, "the first such");
    }

    function test_an_empty_cohort_whose_turn_lies_ahead_keeps_it() public {
        mint(ALICE, DAILY);
        (,, uint256 nextDue,,) = factory.cohort(DAILY);
        vm.assertEq(nextDue, FIRST_DUE, "unchanged");
    }

    function test_a_contract_wallet_cannot_refuse_a_node() public {
        mint(address(new Hermit()), DAILY);
        vm.assertEq(factory.lastId(), 1, "minted");
    }

    function test_only_the_minter_mints() public {
        address[4] memory others = [OWNER, DISTRIBUTOR, ALICE, address(0)];
        for (uint256 i; i < others.length; ++i) {
            vm.expectRevert(INodeFactory.NotMinter.selector);
            vm.prank(others[i]);
            factory.mint(order(ALICE, DAILY, REF), 0, 0, block.timestamp);
        }
    }

    function test_a_paused_factory_does_not_mint() public {
        vm.prank(OWNER);
        factory.pause();
        vm.expectRevert(INodeFactory.IsPaused.selector);
        mint(order(ALICE, DAILY, REF));
        vm.prank(OWNER);
        factory.unpause();
        mint(order(ALICE, DAILY, REF));
    }

    function test_ids_end_at_32_bits() public {
        skipTo(type(uint32).max);
        INodeFactory.Order[] memory two = new INodeFactory.Order[](2);
        vm.expectRevert(INodeFactory.NodeIdsExhausted.selector);
        mint(two);
        vm.assertEq(mint(ALICE, DAILY), type(uint32).max, "the last id");
        vm.assertEq(factory.nodesOf(ALICE)[0], type(uint32).max, "listed whole");
        vm.expectRevert(INodeFactory.NodeIdsExhausted.selector);
        mint(order(ALICE, DAILY, REF));
    }
}
