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
    event CohortOpened(uint256 indexed cohort, uint256 tier, uint256 firstDue, uint256 interval);
    event Transfer(address indexed from, address indexed to, uint256 indexed id);

    bytes32 internal constant REF = keccak256("payment");

    function expectSkip(bytes32 ref, uint256 reason) internal {
        vm.expectEmit(true, true, true, true, address(factory));
        emit MintSkipped(ref, reason);
    }

    // ------------------------------------------------------------------------------------------------------ opening

    function test_opening_a_cohort_stores_its_schedule_and_says_so() public {
        vm.expectEmit(true, true, true, true, address(factory));
        emit CohortOpened(65_535, 65_534, START + 5, 60);
        vm.prank(MINTER);
        factory.openCohort(65_535, 65_534, START + 5, 60);
        (uint256 perNode, uint256 size, uint256 nextDue, uint256 interval, uint256 tier) = factory.cohort(65_535);
        vm.assertEq(perNode, 0, "perNode");
        vm.assertEq(size, 0, "size");
        vm.assertEq(nextDue, START + 5, "nextDue");
        vm.assertEq(interval, 60, "interval");
        vm.assertEq(tier, 65_534, "tier");
    }

    function test_several_cohorts_open_in_one_call() public {
        INodeFactory.CohortOpening[] memory openings = new INodeFactory.CohortOpening[](2);
        openings[0] = INodeFactory.CohortOpening(10, 3, START + 1, 60);
        openings[1] = INodeFactory.CohortOpening(11, 4, START + 2, 61);
        vm.prank(MINTER);
        factory.openCohorts(openings);
        (,, uint256 nextDue, uint256 interval, uint256 tier) = factory.cohort(11);
        vm.assertEq(nextDue, START + 2, "nextDue");
        vm.assertEq(interval, 61, "interval");
        vm.assertEq(tier, 4, "tier");
    }

    function test_several_cohorts_open_all_or_none() public {
        INodeFactory.CohortOpening[] memory openings = new INodeFactory.CohortOpening[](2);
        openings[0] = INodeFactory.CohortOpening(10, 3, START + 1, 60);
        openings[1] = INodeFactory.CohortOpening(DAILY, 4, START + 2, 61);
        vm.expectRevert(INodeFactory.CohortAlreadyOpen.selector);
        vm.prank(MINTER);
        factory.openCohorts(openings);
        (,,, uint256 interval,) = factory.cohort(10);
        vm.assertEq(interval, 0, "none opened");
    }

    function test_a_cohort_number_is_never_opened_twice() public {
        vm.expectRevert(INodeFactory.CohortAlreadyOpen.selector);
        vm.prank(MINTER);
        factory.openCohort(DAILY, 8, START + 9, 60);
    }

    function test_only_the_minter_opens_cohorts() public {
        vm.expectRevert(INodeFactory.NotMinter.selector);
        vm.prank(OWNER);
        factory.openCohort(9, 1, START, 60);
        vm.expectRevert(INodeFactory.NotMinter.selector);
        vm.prank(DISTRIBUTOR);
        factory.openCohorts(new INodeFactory.CohortOpening[](0));
    }

    function refuseOpening(uint256 cohort, uint256 tier, uint256 firstDue, uint256 interval) internal {
        vm.expectRevert(INodeFactory.ScheduleOutOfRange.selector);
        vm.prank(MINTER);
        factory.openCohort(cohort, tier, firstDue, interval);
    }

    function test_what_does_not_fit_a_cohorts_slot_is_refused() public {
        refuseOpening(65_536, 1, START, 60);
        refuseOpening(9, 65_536, START, 60);
        refuseOpening(9, 1, 0, 60);
        refuseOpening(9, 1, 1 << 40, 60);
        refuseOpening(9, 1, START, 0);
        refuseOpening(9, 1, START, 1 << 32);
        vm.prank(MINTER);
        factory.openCohort(9, 65_535, (1 << 40) - 1, (1 << 32) - 1);
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

    function test_a_used_ref_is_skipped_silently_across_calls_and_within_one() public {
        mint(order(ALICE, DAILY, REF));
        INodeFactory.Order[] memory orders = new INodeFactory.Order[](3);
        orders[0] = INodeFactory.Order(BOB, OTHER, REF);
        orders[1] = INodeFactory.Order(BOB, OTHER, "fresh");
        orders[2] = INodeFactory.Order(CAROL, OTHER, "fresh");
        vm.recordLogs();
        mint(orders);
        vm.assertEq(vm.getRecordedLogs().length, 2, "Transfer and NodeMinted of one node");
        vm.assertEq(factory.lastId(), 2, "one more");
        vm.assertEq(factory.ownerOf(2), BOB, "the first order with the ref");
        vm.assertEq(factory.nodeOfRef(REF), 1, "ref stands");
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
        vm.prank(MINTER);
        factory.openCohort(9, 1, 1, 60);
        refuseCredit(INodeFactory.EmptyCohort.selector, turn(9, 0), 0);
        mint(ALICE, 9);
        (,, uint256 nextDue,,) = factory.cohort(9);
        vm.assertEq(nextDue % 60, 1, "phase kept");
        vm.assertTrue(nextDue > block.timestamp && nextDue <= block.timestamp + 60, "within an interval");
    }

    function test_an_empty_cohort_rolls_in_phase_whatever_its_schedule(uint40 firstDue, uint32 interval, uint32 now_)
        public
    {
        firstDue = uint40(bound(firstDue, 1, type(uint32).max));
        interval = uint32(bound(interval, 1, type(uint32).max));
        vm.warp(now_);
        vm.prank(MINTER);
        factory.openCohort(9, 1, firstDue, interval);
        mint(ALICE, 9);
        (,, uint256 nextDue,,) = factory.cohort(9);
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
        vm.expectRevert(INodeFactory.NotMinter.selector);
        vm.prank(OWNER);
        factory.mint(order(ALICE, DAILY, REF), 0, 0);
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

    function test_a_mint_succeeds_only_on_the_fork_of_its_guard_block() public {
        vm.setBlockhash(990, "ours");
        vm.expectRevert(INodeFactory.StaleFork.selector);
        vm.prank(MINTER);
        factory.mint(order(ALICE, DAILY, REF), 990, "theirs");
        vm.prank(MINTER);
        factory.mint(order(ALICE, DAILY, REF), 990, "ours");
        vm.assertEq(factory.lastId(), 1, "minted");
    }

    function test_a_guard_lapses_after_256_blocks() public {
        vm.setBlockhash(990, "ours");
        vm.roll(990 + 256);
        vm.prank(MINTER);
        factory.mint(order(ALICE, DAILY, "in time"), 990, "ours");
        vm.roll(990 + 257);
        vm.expectRevert(INodeFactory.StaleFork.selector);
        vm.prank(MINTER);
        factory.mint(order(ALICE, DAILY, REF), 990, "ours");
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
