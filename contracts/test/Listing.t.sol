// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @notice Owns what a call does with a list: wherever in it the one stands that is skipped or refused, the others are dealt
/// with as if it were not there, or none is. And it owns the first, a middle and the last tier, in any order of a batch.
contract ListingTest is FactoryTest {
    uint256 private constant LAST_TIER = type(uint16).max;
    /// @dev Every list has so many entries: a first, a middle and a last.
    uint256 private constant LENGTH = 3;
    uint256[3] private TIERS = [0, TIER, LAST_TIER];

    // --------------------------------------------------------------------------------------------------------- orders

    function ref(uint256 number) private pure returns (bytes32) {
        return bytes32(number + 1);
    }

    /// @dev Orders of Alice's into `cohort`, with refs of their own.
    function ordersInto(uint256 cohort) private pure returns (INodeFactory.Order[] memory orders) {
        orders = new INodeFactory.Order[](LENGTH);
        for (uint256 i; i < LENGTH; ++i) {
            orders[i] = INodeFactory.Order(ALICE, cohort, ref(i));
        }
    }

    /// @dev Each way to be passed over but the budget's, which ends what follows, too.
    function test_an_order_that_is_passed_over_stops_no_other_wherever_it_stands() public {
        for (uint256 i; i < 6 * LENGTH; ++i) {
            setUp();
            (uint256 place, uint256 why) = (i % LENGTH, i / LENGTH);
            mint(order(BOB, OTHER, "used"));
            for (uint256 full; full < CAP; ++full) {
                mint(CAROL, OTHER);
            }
            uint256 spent = open(TIER + 1, FIRST_DUE, INTERVAL);
            capTier(TIER + 1, 0);
            INodeFactory.Order[] memory orders = ordersInto(DAILY);
            if (why == 0) orders[place].ref = "used";
            if (why == 1) (orders[place].ref, orders[place].to) = ("used", BOB);
            if (why == 2) orders[place].to = address(0);
            if (why == 3) orders[place].to = CAROL;
            if (why == 4) orders[place].cohort = 77;
            if (why == 5) orders[place].cohort = spent;
            uint256 before = factory.lastId();
            mint(orders);
            vm.assertEq(factory.lastId(), before + LENGTH - 1, "all others");
            uint256 id = before;
            for (uint256 k; k < LENGTH; ++k) {
                vm.assertEq(factory.nodeOfRef(ref(k)), k == place ? 0 : ++id, "in the order of the list");
            }
            (, uint256 size,,,) = factory.cohort(DAILY);
            vm.assertEq(size, LENGTH - 1, "size");
        }
    }

    function test_a_budget_a_wallet_and_a_tier_end_at_any_place_of_a_batch() public {
        for (uint256 i; i < 3 * (LENGTH + 1); ++i) {
            setUp();
            (uint256 room, uint256 what) = (i % (LENGTH + 1), i / (LENGTH + 1));
            if (what == 0) {
                vm.prank(OWNER);
                factory.setMinter(MINTER, MINTER, room, 0);
            }
            if (what == 1) {
                for (uint256 held = room; held < CAP; ++held) {
                    mint(ALICE, OTHER);
                }
            }
            if (what == 2) capTier(TIER, room);
            mint(ordersInto(DAILY));
            for (uint256 k; k < LENGTH; ++k) {
                vm.assertTrue((factory.nodeOfRef(ref(k)) != 0) == (k < room), "as many as there is room for");
            }
        }
    }

    // ---------------------------------------------------------------------------------------------------------- tiers

    /// @dev A cohort of each tier, in their order.
    function openTiers() private returns (uint256[3] memory cohorts) {
        for (uint256 k; k < LENGTH; ++k) {
            cohorts[k] = open(TIERS[k], FIRST_DUE, INTERVAL);
        }
    }

    function expelOne(bytes32 ref_) private {
        bytes32[] memory refs = new bytes32[](1);
        refs[0] = ref_;
        vm.prank(OWNER);
        factory.expel(refs);
    }

    function test_each_tier_is_counted_capped_and_given_its_places_back_by_itself() public {
        for (uint256 k; k < LENGTH; ++k) {
            setUp();
            uint256[3] memory cohorts = openTiers();
            capTier(TIERS[k], 2);
            mint(ordersInto(cohorts[k]));
            vm.assertEq(factory.lastId(), 2, "within its cap");
            for (uint256 other; other < LENGTH; ++other) {
                assertSupply(TIERS[other], other == k ? 2 : 0, other == k ? 2 : NO_CAP);
            }
            expelOne(ref(0));
            assertSupply(TIERS[k], 1, 2);
            mint(ordersInto(cohorts[k]));
            assertSupply(TIERS[k], 2, 2);
            vm.assertEq(factory.nodeOfRef(ref(2)), 3, "in the free place");
        }
    }

    /// @dev Every batch of four over three tiers, each tier with a node and room for one more: 81 of them.
    function test_a_batch_counts_its_tiers_in_whatever_order_they_come() public {
        for (uint256 pattern; pattern < 81; ++pattern) {
            setUp();
            uint256[3] memory cohorts = openTiers();
            for (uint256 k; k < LENGTH; ++k) {
                mint(BOB, cohorts[k]);
                capTier(TIERS[k], 2);
            }
            INodeFactory.Order[] memory orders = new INodeFactory.Order[](4);
            bool[3] memory seen;
            uint256 minted = LENGTH;
            for ((uint256 i, uint256 rest) = (0, pattern); i < 4; (++i, rest /= 3)) {
                orders[i] = INodeFactory.Order(ALICE, cohorts[rest % 3], ref(i));
                if (!seen[rest % 3]) ++minted;
                seen[rest % 3] = true;
            }
            mint(orders);
            vm.assertEq(factory.lastId(), minted, "one more of each tier that is in it");
            for (uint256 k; k < LENGTH; ++k) {
                assertSupply(TIERS[k], seen[k] ? 2 : 1, 2);
            }
        }
    }

    // --------------------------------------------------------------------------------------------------------- expelling

    /// @dev Skipped: a ref without a node, one that was expelled, one that is too old, and one named twice.
    function test_a_ref_that_is_skipped_stops_no_other_wherever_it_stands() public {
        for (uint256 i; i < 4 * LENGTH; ++i) {
            setUp();
            (uint256 place, uint256 why) = (i % LENGTH, i / LENGTH);
            mint(order(BOB, OTHER, "old"));
            creditTurn(OTHER, 1);
            mint(order(BOB, OTHER, "gone"));
            expelOne("gone");
            vm.warp(START + 2 * INTERVAL);
            mint(ordersInto(DAILY));
            bytes32[] memory refs = new bytes32[](LENGTH);
            for (uint256 k; k < LENGTH; ++k) {
                refs[k] = ref(k);
            }
            refs[place] =
                why == 0 ? bytes32("none") : why == 1 ? bytes32("gone") : why == 2 ? bytes32("old") : refs[place];
            if (why == 3) refs[place] = refs[(place + 1) % LENGTH];
            vm.prank(OWNER);
            factory.expel(refs);
            for (uint256 k; k < LENGTH; ++k) {
                (,,,, uint256 cohort) = factory.nodeInfo(factory.nodeOfRef(ref(k)));
                vm.assertEq(cohort, k == place ? DAILY : 0, "all others");
            }
            (, uint256 size,,,) = factory.cohort(DAILY);
            vm.assertEq(size, 1, "each once");
            assertSupply(TIER, 2, NO_CAP);
        }
    }

    // ------------------------------------------------------------------------------------------------------- withdrawing

    function withdrawAll(uint256[] memory list) private returns (bool ok, bytes4 reason) {
        bytes memory said;
        vm.prank(ALICE);
        (ok, said) = address(factory).call(abi.encodeCall(INodeFactory.withdrawAll, (list, ALICE)));
        reason = ok ? bytes4(0) : bytes4(said);
    }

    /// @dev Without a balance, or named twice: skipped. Another's, or none: the whole is refused.
    function test_a_node_that_is_skipped_or_refused_counts_wherever_it_stands() public {
        for (uint256 i; i < 4 * LENGTH; ++i) {
            setUp();
            (uint256 place, uint256 why) = (i % LENGTH, i / LENGTH);
            mint(ordersInto(DAILY));
            mint(order(BOB, DAILY, "another's"));
            creditTurn(DAILY, 1 ether);
            mint(order(ALICE, DAILY, "without a balance"));
            uint256[] memory list = new uint256[](LENGTH);
            for (uint256 k; k < LENGTH; ++k) {
                list[k] = k + 1;
            }
            list[place] = why == 0 ? 5 : why == 1 ? 4 : why == 2 ? 6 : list[(place + 1) % LENGTH];
            (bool ok, bytes4 reason) = withdrawAll(list);
            bool skipped = why == 0 || why == 3;
            vm.assertTrue(ok == skipped, "all others, or none");
            if (why == 1) vm.assertEq(bytes32(reason), bytes32(INodeFactory.NotNodeOwner.selector), "another's");
            if (why == 2) vm.assertEq(bytes32(reason), bytes32(bytes4(keccak256("TokenDoesNotExist()"))), "none");
            vm.assertEq(ALICE.balance, skipped ? 2 ether : 0, "what came out");
            for (uint256 k; k < LENGTH; ++k) {
                vm.assertEq(balanceOfNode(k + 1), skipped && k != place ? 0 : 1 ether, "of each");
            }
            vm.deal(ALICE, 0);
        }
    }

    // ---------------------------------------------------------------------------------------------------------- opening

    function test_an_opening_that_does_not_fit_refuses_all_wherever_it_stands() public {
        for (uint256 i; i <= 4 * LENGTH; ++i) {
            setUp();
            (uint256 place, uint256 why) = (i % LENGTH, i / LENGTH);
            INodeFactory.CohortOpening[] memory openings = new INodeFactory.CohortOpening[](LENGTH);
            for (uint256 k; k < LENGTH; ++k) {
                openings[k] = INodeFactory.CohortOpening(20 + k, START + k, 60 + k);
            }
            if (why == 0) openings[place].tier = 1 << 16;
            if (why == 1) openings[place].firstDue = 0;
            if (why == 2) openings[place].interval = LEAST_INTERVAL - 1;
            if (why == 3) openings[place].interval = 1 << 32;
            vm.prank(MINTER);
            (bool ok,) = address(factory).call(abi.encodeCall(INodeFactory.openCohorts, (3, openings, START)));
            vm.assertTrue(ok == (why == 4), "all or none");
            for (uint256 k; k < LENGTH; ++k) {
                (,, uint256 nextDue, uint256 interval, uint256 tier) = factory.cohort(3 + k);
                vm.assertEq(nextDue, ok ? START + k : 0, "its turn");
                vm.assertEq(interval, ok ? 60 + k : 0, "its interval");
                vm.assertEq(tier, ok ? 20 + k : 0, "its tier");
            }
            vm.assertEq(factory.lastCohort(), ok ? 2 + LENGTH : 2, "counted");
        }
    }

    // --------------------------------------------------------------------------------------------------------- crediting

    /// @dev An entry for each of three cohorts with a node each, `turn` of which are paid a gwei.
    function entries(uint256[3] memory cohorts) private view returns (INodeFactory.CohortCredit[] memory credits) {
        credits = new INodeFactory.CohortCredit[](LENGTH);
        for (uint256 k; k < LENGTH; ++k) {
            credits[k] = turn(cohorts[k], 1 gwei)[0];
        }
    }

    function test_an_entry_that_is_wrong_refuses_the_round_wherever_it_stands() public {
        bytes4[8] memory reasons = [
            INodeFactory.EmptyCohort.selector,
            INodeFactory.CohortTwiceInRound.selector,
            INodeFactory.WrongTurn.selector,
            INodeFactory.NoTurns.selector,
            INodeFactory.TurnNotDue.selector,
            INodeFactory.AmountOutOfBounds.selector,
            INodeFactory.TurnOwed.selector,
            INodeFactory.TooManyTurns.selector
        ];
        for (uint256 i; i < reasons.length * LENGTH; ++i) {
            setUp();
            (uint256 place, uint256 why) = (i % LENGTH, i / LENGTH);
            uint256[3] memory cohorts = openTiers();
            for (uint256 k; k < LENGTH; ++k) {
                mint(ALICE, cohorts[k]);
            }
            vm.prank(OWNER);
            factory.setBounds(DISTRIBUTOR, 1, 2);
            vm.warp(FIRST_DUE + 3_000 * INTERVAL);
            INodeFactory.CohortCredit[] memory credits = entries(cohorts);
            if (why == 0) credits[place].cohort = OTHER;
            if (why == 1) {
                // Behind, before or around the entry in the middle: with its own turn, then with the next.
                uint256 twin = (place + 1) % LENGTH;
                (credits[place].cohort, credits[twin].cohort) = (cohorts[0], cohorts[0]);
                credits[place < twin ? twin : place].firstDue += INTERVAL;
            }
            if (why == 2) ++credits[place].firstDue;
            if (why == 3) credits[place].paid = 0;
            if (why == 4) credits[place].paid = 0;
            if (why == 4) credits[place].skipped = 3_002;
            if (why == 5) credits[place].amountPerNode = 2 gwei + 1;
            if (why == 6) credits[place].skipped = 1;
            if (why == 7) (credits[place].paid, credits[place].amountPerNode) = (1_999, 1_999 gwei);
            refuseCredit(reasons[why], credits, 3 gwei);
            if (why == 7) {
                (credits[place].paid, credits[place].amountPerNode) = (1_998, 1_998 gwei);
                credit(credits, 2_000 gwei);
                vm.assertEq(balanceOfNode(place + 1), 1_998 gwei, "2,000 turns in all");
            } else {
                credit(entries(cohorts), 3 gwei);
                vm.assertEq(balanceOfNode(place + 1), 1 gwei, "credited once all are right");
            }
        }
    }

    /// @dev Two turns in each window and two between: a step goes through one window, whichever it is.
    function test_a_window_is_found_wherever_it_stands_and_none_between() public {
        for (uint256 k; k <= LENGTH; ++k) {
            setUp();
            mint(ALICE, DAILY);
            for (uint256 window; window < LENGTH; ++window) {
                uint256 from = FIRST_DUE + 4 * window * INTERVAL;
                vm.prank(OWNER);
                factory.addNotOwed(window + 1, from, from + 2 * INTERVAL);
            }
            vm.warp(FIRST_DUE + 99 * INTERVAL);
            if (k != 0) credit(entry(DAILY, 0, 4 * k, 1), 1);
            if (k == LENGTH) {
                refuseCredit(INodeFactory.TurnOwed.selector, entry(DAILY, 1, 0, 0), 0);
                continue;
            }
            refuseCredit(INodeFactory.TurnOwed.selector, entry(DAILY, 3, 0, 0), 0);
            credit(entry(DAILY, 2, 0, 0), 0);
            refuseCredit(INodeFactory.TurnOwed.selector, entry(DAILY, 1, 0, 0), 0);
        }
    }
}
