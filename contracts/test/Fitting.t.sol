// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {Factory, FactoryTest} from "./FactoryTest.sol";

/// @notice Owns how figures fit: each figure that is stored keeps all bits of its field, and each that names something names
/// nothing else if a bit is added to it. The tables have a figure on each side of 8, 16, 24 and 32 bits.
contract FittingTest is FactoryTest {
    uint256 private constant COHORT_SLOT = 2;
    uint256 private constant SUPPLY_SLOT = 11;
    uint256[9] private FIGURES = [1, 255, 256, 257, 65_535, 65_536, 1 << 24, (1 << 24) + 1, (1 << 32) - 1];

    function slotOf(uint256 key, uint256 slot) private pure returns (bytes32) {
        return keccak256(abi.encode(key, slot));
    }

    function write(bytes32 slot, uint256 shift, uint256 mask, uint256 value) private {
        uint256 word = uint256(vm.load(address(factory), slot));
        vm.store(address(factory), slot, bytes32((word & ~(mask << shift)) | (value << shift)));
    }

    function expel(bytes32 ref) private {
        bytes32[] memory refs = new bytes32[](1);
        refs[0] = ref;
        vm.prank(OWNER);
        factory.expel(refs);
    }

    function cohortOf(uint256 id) private view returns (uint256 cohort) {
        (,,,, cohort) = factory.nodeInfo(id);
    }

    // ------------------------------------------------------------------------------------------------- what is stored

    function test_a_node_of_any_id_is_found_by_its_ref_and_does_all_that_a_node_does() public {
        for (uint256 i; i < FIGURES.length; ++i) {
            setUp();
            uint256 id = FIGURES[i];
            skipTo(id);
            mint(order(ALICE, DAILY, "ref"));
            vm.assertEq(factory.lastId(), id, "lastId");
            vm.assertEq(factory.nodeOfRef("ref"), id, "of its ref");
            vm.assertEq(factory.nodesOf(ALICE)[0], id, "in its list");
            vm.assertEq(factory.nodesInfo(id, 1)[0].owner, ALICE, "in a range");
            creditTurn(DAILY, 3 ether);
            vm.prank(ALICE);
            factory.withdraw(id, ALICE, 1 ether);
            vm.assertEq(balanceOfNode(id), 2 ether, "its balance");
            vm.prank(ALICE);
            factory.transferFrom(ALICE, BOB, id);
            vm.assertEq(factory.nodesOf(BOB)[0], id, "in the next list");
            // Behind the last id, a batch is refused whatever is in it.
            if (id < NODES) mint(order(BOB, DAILY, "ref"));
            vm.assertEq(factory.lastId(), id, "a used ref mints nothing");
            expel("ref");
            vm.assertEq(cohortOf(id), 0, "expelled by its ref");
        }
    }

    function test_a_budget_of_any_size_is_spent_to_its_end() public {
        for (uint256 i; i < FIGURES.length; ++i) {
            setUp();
            uint256 cohorts = FIGURES[i] < 65_536 ? FIGURES[i] : 65_535;
            vm.prank(OWNER);
            factory.setMinter(MINTER, MINTER, FIGURES[i], cohorts);
            mint(ALICE, DAILY);
            open();
            (uint256 nodesLeft, uint256 cohortsLeft) = factory.budget();
            vm.assertEq(nodesLeft, FIGURES[i] - 1, "nodes");
            vm.assertEq(cohortsLeft, cohorts - 1, "cohorts");
            vm.assertEq(factory.nodesOf(ALICE).length, 1, "a node");
        }
    }

    function test_a_supply_of_any_size_is_counted_and_capped() public {
        for (uint256 i; i + 1 < FIGURES.length; ++i) {
            setUp();
            uint256 minted = FIGURES[i];
            write(slotOf(TIER, SUPPLY_SLOT), 0, type(uint32).max, minted);
            capTier(TIER, minted + 1);
            assertSupply(TIER, minted, minted + 1);
            mint(order(ALICE, DAILY, "fits"));
            mint(order(ALICE, OTHER, "one too many"));
            assertSupply(TIER, minted + 1, minted + 1);
            vm.assertEq(factory.lastId(), 1, "one node");
            vm.expectRevert(INodeFactory.SupplyOutOfRange.selector);
            capTier(TIER, minted);
            expel("fits");
            capTier(TIER, minted);
            assertSupply(TIER, minted, minted);
        }
    }

    function test_a_cap_of_any_size_leaves_as_much_room_as_it_says() public {
        for (uint256 i; i < FIGURES.length; ++i) {
            setUp();
            capTier(TIER, FIGURES[i]);
            write(slotOf(TIER, SUPPLY_SLOT), 0, type(uint32).max, FIGURES[i] - 1);
            mint(order(ALICE, DAILY, "fits"));
            mint(order(ALICE, DAILY, "one too many"));
            assertSupply(TIER, FIGURES[i], FIGURES[i]);
            vm.assertEq(factory.lastId(), 1, "one node");
        }
    }

    function test_a_cohort_of_any_size_costs_what_its_nodes_get() public {
        for (uint256 i; i < FIGURES.length; ++i) {
            setUp();
            mint(ALICE, DAILY);
            write(slotOf(DAILY, COHORT_SLOT), 80, type(uint32).max, FIGURES[i]);
            vm.warp(FIRST_DUE);
            refuseCredit(INodeFactory.WrongValue.selector, turn(DAILY, 1 gwei), FIGURES[i] * 1 gwei + 1);
            credit(turn(DAILY, 1 gwei), FIGURES[i] * 1 gwei);
            vm.assertEq(factory.outstanding(), FIGURES[i] * 1 gwei, "owed");
        }
    }

    /// @dev The last is the last of its field, too.
    function test_cohorts_of_any_number_and_tier_are_kept_apart() public {
        uint256[7] memory numbers = [uint256(3), 255, 256, 257, 32_768, 65_534, 65_535];
        for (uint256 i; i < numbers.length; ++i) {
            setUp();
            mint(CAROL, DAILY);
            skipToCohort(numbers[i]);
            uint256 tier = numbers[i] - 3 * (i % 2);
            uint256 cohort = open(tier, FIRST_DUE, INTERVAL);
            mint(order(ALICE, cohort, "ref"));
            vm.assertEq(cohortOf(2), numbers[i], "its number");
            assertSupply(tier, 1, NO_CAP);
            assertSupply(uint8(tier) == tier ? tier + 256 : uint8(tier), uint8(tier) == TIER ? 1 : 0, NO_CAP);
            vm.prank(OWNER);
            factory.setInterval(cohort, 2 * INTERVAL);
            creditTurn(cohort, 3 ether);
            vm.assertEq(nextDueOf(cohort), FIRST_DUE + 2 * INTERVAL, "its next turn");
            vm.assertEq(nextDueOf(DAILY), FIRST_DUE, "not another's");
            vm.assertEq(balanceOfNode(2), 3 ether, "paid");
            capTier(tier, 1);
            expel("ref");
            vm.assertEq(cohortOf(2), 0, "out of it");
            assertSupply(tier, 0, 1);
            (, uint256 size,,,) = factory.cohort(cohort);
            vm.assertEq(size, 0, "empty");
            (, size,,,) = factory.cohort(DAILY);
            vm.assertEq(size, 1, "nor from another's");
            assertSupply(TIER, 1, NO_CAP);
        }
    }

    /// @dev Times of 2106 and of the far end of the field. The window of expulsion follows the interval, up to a week.
    function test_a_node_of_any_time_and_interval_is_expelled_within_its_window_and_not_after() public {
        uint256[5] memory times = [START, (1 << 32) - 2 hours, 1 << 32, 1 << 33, (1 << 40) - (1 << 34)];
        uint256[7] memory intervals = [uint256(60), 65_535, 65_536, 1 << 24, 1 << 31, (1 << 31) + 1, (1 << 32) - 1];
        for (uint256 i; i < times.length * intervals.length; ++i) {
            setUp();
            (uint256 time, uint256 interval) = (times[i % times.length], intervals[i / times.length]);
            vm.warp(time);
            uint256 cohort = open(TIER, time + 30, interval);
            mint(order(ALICE, cohort, "early"));
            mint(order(ALICE, cohort, "late"));
            creditTurn(cohort, 1 ether);
            vm.assertEq(nextDueOf(cohort), time + 30 + interval, "its next turn");
            refuseCredit(INodeFactory.TurnNotDue.selector, turn(cohort, 1), 2);
            vm.prank(OWNER);
            factory.setInterval(cohort, interval);
            uint256 window = 2 * interval < EXPULSION_PERIOD ? 2 * interval : EXPULSION_PERIOD;
            vm.warp(time + window - 1);
            expel("early");
            vm.assertEq(cohortOf(1), 0, "within it");
            vm.warp(time + window);
            expel("late");
            vm.assertEq(cohortOf(2), cohort, "after it");
        }
    }

    function test_turns_of_any_number_are_skipped_and_missed() public {
        uint256[7] memory counts = [uint256(2), 255, 256, 65_535, 65_536, (1 << 24) + 1, (1 << 32) + 1];
        for (uint256 i; i < counts.length; ++i) {
            setUp();
            uint256 cohort = open(TIER, FIRST_DUE, LEAST_INTERVAL);
            mint(ALICE, cohort);
            uint256 end = FIRST_DUE + counts[i] * LEAST_INTERVAL;
            vm.warp(end);
            vm.prank(OWNER);
            factory.addNotOwed(1, FIRST_DUE, end - LEAST_INTERVAL);
            refuseCredit(INodeFactory.TurnOwed.selector, entry(cohort, counts[i], 0, 0), 0);
            vm.prank(OWNER);
            factory.addNotOwed(2, end - LEAST_INTERVAL, end);
            credit(entry(cohort, counts[i] - 1, 0, 0), 0);
            credit(entry(cohort, 1, 1, 5), 5);
            vm.assertEq(nextDueOf(cohort), end + LEAST_INTERVAL, "behind them all");
            // The same number, missed by a cohort without nodes.
            uint256 empty = open(TIER, FIRST_DUE, LEAST_INTERVAL);
            mint(ALICE, empty);
            vm.assertEq(nextDueOf(empty), end + LEAST_INTERVAL, "the first turn after now");
        }
    }

    function test_calls_of_any_length_are_counted_whole() public {
        factory = deploy(OWNER, 256);
        INodeFactory.CohortOpening[] memory openings = new INodeFactory.CohortOpening[](257);
        INodeFactory.Order[] memory orders = new INodeFactory.Order[](257);
        for (uint256 i; i < openings.length; ++i) {
            openings[i] = INodeFactory.CohortOpening(TIER, FIRST_DUE, INTERVAL);
            orders[i] = INodeFactory.Order(i == 0 ? BOB : ALICE, i + 1, bytes32(i + 1));
        }
        vm.prank(MINTER);
        factory.openCohorts(1, openings, block.timestamp);
        mint(orders);
        (uint256 nodes, uint256 cohorts) = factory.budget();
        vm.assertEq(NODES - nodes, 257, "out of the budget of nodes");
        vm.assertEq(COHORTS - cohorts, 257, "out of the budget of cohorts");
        vm.assertEq(factory.lastId() + factory.lastCohort(), 2 * 257, "counted");
        assertSupply(TIER, 257, NO_CAP);
    }

    function test_a_call_may_be_good_until_any_time() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        for (uint256 bit = 40; bit < 256; ++bit) {
            uint256 until = 1 << bit;
            uint256 next = factory.lastCohort() + 1;
            vm.prank(MINTER);
            factory.openCohorts(next, opening(TIER, FIRST_DUE, INTERVAL), until);
            vm.prank(MINTER);
            factory.mint(order(address(uint160(bit + 1_000)), next, bytes32(bit)), 0, 0, until);
        }
        vm.assertEq(factory.lastId(), 1 + 216, "each");
        INodeFactory.CohortCredit[] memory credits = turn(DAILY, 0);
        vm.prank(DISTRIBUTOR);
        factory.credit(1, 0, 0, 1 << 40, credits);
    }

    function test_a_cohort_takes_no_interval_beyond_its_field() public {
        uint256[4] memory intervals = [LEAST_INTERVAL - 1, 1 << 32, (1 << 32) + INTERVAL, type(uint256).max];
        for (uint256 i; i < intervals.length; ++i) {
            vm.expectRevert(INodeFactory.ScheduleOutOfRange.selector);
            vm.prank(OWNER);
            factory.setInterval(DAILY, intervals[i]);
            vm.expectRevert(INodeFactory.ScheduleOutOfRange.selector);
            vm.prank(MINTER);
            factory.openCohorts(3, opening(TIER, FIRST_DUE, intervals[i]), block.timestamp);
        }
    }

    function test_windows_of_any_time_are_kept_whole() public {
        uint256[4] memory times = [uint256(1), (1 << 32) - 1, 1 << 32, (1 << 40) - 3];
        for (uint256 i; i < times.length; ++i) {
            vm.prank(OWNER);
            factory.addNotOwed(i + 1, times[i], times[i] + 2);
            assertWindow(i + 1, times[i], times[i] + 2);
            if (times[i] <= block.timestamp) continue;
            vm.prank(OWNER);
            factory.endNotOwed(i + 1, times[i] + 1);
            assertWindow(i + 1, times[i], times[i] + 1);
        }
    }

    function assertWindow(uint256 window, uint256 from, uint256 until) private view {
        (uint256 actualFrom, uint256 actualUntil) = factory.notOwed(window);
        vm.assertEq(actualFrom, from, "from");
        vm.assertEq(actualUntil, until, "until");
    }

    function test_an_allowance_of_any_size_is_kept_whole(uint256 allowance) public {
        allow(allowance);
        vm.assertEq(factory.swapsAllowance(), allowance, "allowance");
    }

    function test_rounds_of_any_number_are_counted_and_take_a_cohort_once() public {
        uint256[5] memory rounds = [uint256(1), 65_535, (1 << 32) - 1, 1 << 32, (1 << 48) - 2];
        for (uint256 i; i < rounds.length; ++i) {
            setUp();
            mint(ALICE, DAILY);
            vm.warp(FIRST_DUE + 9 * INTERVAL);
            write(bytes32(BOOKS_SLOT), 192, type(uint48).max, rounds[i]);
            INodeFactory.CohortCredit[] memory twice = turns(DAILY, 1, DAILY, 1);
            twice[1].firstDue += INTERVAL;
            refuseCredit(INodeFactory.CohortTwiceInRound.selector, twice, 2);
            credit(turn(DAILY, 1), 1);
            vm.assertEq(factory.round(), rounds[i] + 1, "round");
            vm.assertTrue(!factory.paused(), "the field beside it is untouched");
        }
    }

    // --------------------------------------------------------------------------------------------- what names something

    function fails(address caller, bytes memory call, bytes4 reason) private {
        vm.prank(caller);
        (bool ok, bytes memory said) = address(factory).call(call);
        vm.assertTrue(!ok, "names nothing");
        vm.assertEq(bytes32(bytes4(said)), bytes32(reason), "the reason");
    }

    /// @dev The id of Alice's node with one more bit.
    function test_an_id_with_a_bit_more_is_of_no_node() public {
        mint(ALICE, DAILY);
        creditTurn(DAILY, 3 ether);
        bytes4 none = bytes4(keccak256("TokenDoesNotExist()"));
        for (uint256 bit = 1; bit < 256; ++bit) {
            uint256 id = 1 | (1 << bit);
            fails(ALICE, abi.encodeCall(INodeFactory.withdraw, (id, ALICE, 1)), none);
            fails(ALICE, abi.encodeCall(INodeFactory.withdrawAll, (ids(1, id), ALICE)), none);
            fails(ALICE, abi.encodeCall(INodeFactory.nodeInfo, (id)), none);
            fails(ALICE, abi.encodeCall(INodeFactory.getStateFingerprint, (id)), none);
            fails(ALICE, abi.encodeCall(Factory.tokenURI, (id)), none);
            fails(ALICE, abi.encodeCall(Factory.ownerOf, (id)), none);
            fails(ALICE, abi.encodeCall(Factory.approve, (BOB, id)), none);
            fails(ALICE, abi.encodeCall(Factory.transferFrom, (ALICE, BOB, id)), none);
            vm.assertEq(factory.nodesInfo(id, 1).length, 0, "in no range");
        }
    }

    function test_a_cohort_with_a_bit_more_is_none() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE - 1);
        for (uint256 bit = 2; bit < 256; ++bit) {
            uint256 cohort = DAILY | (1 << bit);
            INodeFactory.CohortCredit[] memory credits = turn(DAILY, 0);
            credits[0].cohort = cohort;
            bytes memory call = abi.encodeCall(INodeFactory.credit, (1, 0, 0, block.timestamp, credits));
            fails(DISTRIBUTOR, call, INodeFactory.EmptyCohort.selector);
            fails(OWNER, abi.encodeCall(INodeFactory.setInterval, (cohort, 60)), INodeFactory.CohortNotOpen.selector);
            call = abi.encodeCall(INodeFactory.openCohorts, (3 | (1 << bit), opening(1, START, 60), block.timestamp));
            fails(MINTER, call, INodeFactory.WrongCohort.selector);
            mint(order(ALICE, cohort, "ref"));
            (,,, uint256 interval,) = factory.cohort(cohort);
            vm.assertEq(interval + factory.nodeOfRef("ref"), 0, "never opened");
        }
    }

    function test_a_tier_with_a_bit_more_has_nothing_of_it() public {
        mint(ALICE, DAILY);
        capTier(TIER, 9);
        for (uint256 bit = 3; bit < 256; ++bit) {
            uint256 tier = TIER | (1 << bit);
            assertSupply(tier, 0, NO_CAP);
            if (bit < 16) continue;
            fails(OWNER, abi.encodeCall(INodeFactory.capTier, (tier, 9)), INodeFactory.SupplyOutOfRange.selector);
            bytes memory call = abi.encodeCall(INodeFactory.openCohorts, (3, opening(tier, START, 60), block.timestamp));
            fails(MINTER, call, INodeFactory.ScheduleOutOfRange.selector);
        }
    }

    function test_a_ref_with_a_bit_more_or_less_is_another() public {
        bytes32 ref = keccak256("payment");
        mint(order(ALICE, DAILY, ref));
        vm.warp(FIRST_DUE - 1);
        for (uint256 bit; bit < 256; ++bit) {
            bytes32 other = ref ^ bytes32(1 << bit);
            vm.assertEq(factory.nodeOfRef(other), 0, "unused");
            expel(other);
            vm.assertEq(cohortOf(1), DAILY, "not expelled by it");
            mint(order(address(uint160(bit + 1_000)), DAILY, other));
            vm.assertEq(factory.nodeOfRef(other), bit + 2, "a node of its own");
        }
    }

    function test_a_round_a_turn_and_a_window_with_a_bit_more_are_others() public {
        mint(ALICE, DAILY);
        vm.prank(OWNER);
        factory.addNotOwed(1, FIRST_DUE, NO_END);
        vm.warp(FIRST_DUE);
        for (uint256 bit = 2; bit < 256; ++bit) {
            uint256 more = 1 << bit;
            refuseRound(INodeFactory.WrongRound.selector, DISTRIBUTOR, 1 | more, DAILY, 0);
            INodeFactory.CohortCredit[] memory credits = turn(DAILY, 0);
            credits[0].firstDue ^= more;
            refuseCredit(INodeFactory.WrongTurn.selector, credits, 0);
            bytes4 wrong = INodeFactory.WrongWindow.selector;
            fails(OWNER, abi.encodeCall(INodeFactory.addNotOwed, (2 | more, NO_END - 1, NO_END)), wrong);
            fails(OWNER, abi.encodeCall(INodeFactory.endNotOwed, (1 | more, 0)), wrong);
            assertWindow(1 | more, 0, 0);
        }
        assertWindow(1, FIRST_DUE, NO_END);
    }

    function test_an_amount_with_a_bit_more_is_more_than_there_is() public {
        mint(ALICE, DAILY);
        creditTurn(DAILY, 1);
        vm.deal(address(factory), 2);
        for (uint256 bit = 1; bit < 256; ++bit) {
            uint256 amount = 1 | (1 << bit);
            fails(
                ALICE, abi.encodeCall(INodeFactory.withdraw, (1, ALICE, amount)), INodeFactory.BalanceExceeded.selector
            );
            fails(OWNER, abi.encodeCall(INodeFactory.sweep, (OWNER, amount)), INodeFactory.SurplusExceeded.selector);
        }
    }
}
