// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Books, Cohort, Cohorts, Supplies, Supply, Use, Uses} from "../src/Packed.sol";
import {DistributorWord, DistributorWords, MinterWord} from "../src/PackedKeys.sol";
import {Test} from "./Test.sol";

/// @notice Owns the packed words: any change of one field leaves the others as they were.
contract PackingTest is Test {
    struct Fields {
        uint80 perNode;
        uint32 size;
        uint40 nextDue;
        uint32 interval;
        uint16 tier;
        uint48 lastRound;
    }

    /// @dev A second packing, by the compiler.
    function wrap(Fields memory f) internal pure returns (Cohort) {
        bytes memory word = abi.encodePacked(uint8(0), f.lastRound, f.tier, f.interval, f.nextDue, f.size, f.perNode);
        return Cohort.wrap(uint256(bytes32(word)));
    }

    function assertFields(Cohort actual, Fields memory expected) internal pure {
        vm.assertEq(Cohort.unwrap(actual), Cohort.unwrap(wrap(expected)), "the whole word");
    }

    function test_each_field_of_a_cohort_is_read_alone(Fields memory f) public pure {
        Cohort cohort = wrap(f);
        vm.assertEq(cohort.perNode(), f.perNode, "perNode");
        vm.assertEq(cohort.size(), f.size, "size");
        vm.assertEq(cohort.nextDue(), f.nextDue, "nextDue");
        vm.assertEq(cohort.interval(), f.interval, "interval");
        vm.assertEq(cohort.tier(), f.tier, "tier");
        vm.assertEq(cohort.lastRound(), f.lastRound, "lastRound");
    }

    function test_each_change_of_a_cohort_changes_its_fields_alone(
        Fields memory f,
        uint80 amount,
        uint40 delay,
        uint48 round
    ) public pure {
        f.size = uint32(bound(f.size, 0, type(uint32).max - 1));
        f.nextDue = uint40(bound(f.nextDue, 0, type(uint40).max - delay));
        f.perNode = uint80(bound(f.perNode, 0, type(uint80).max - amount));
        f.lastRound = uint48(bound(f.lastRound, 0, round));
        Cohort before = wrap(f);

        f.size += 1;
        assertFields(before.joined(), f);
        assertFields(before.joined().left(), wrapped(before));
        f.size -= 1;
        f.nextDue += delay;
        assertFields(before.postponed(delay), f);
        (f.perNode, f.lastRound) = (f.perNode + amount, round);
        assertFields(before.credited(amount, delay, round), f);
        f.interval = ~f.interval;
        assertFields(before.credited(amount, delay, round).withInterval(f.interval), f);
    }

    function wrapped(Cohort cohort) internal pure returns (Fields memory f) {
        f = Fields(
            uint80(cohort.perNode()),
            uint32(cohort.size()),
            uint40(cohort.nextDue()),
            uint32(cohort.interval()),
            uint16(cohort.tier()),
            uint48(cohort.lastRound())
        );
    }

    function test_each_change_of_the_minters_word_changes_its_fields_alone(
        address key,
        uint32 lastId,
        uint32 nodes,
        uint16 cohorts,
        uint16 lastCohort,
        uint32 count
    ) public pure {
        MinterWord word = minterWord(key, lastId, nodes, cohorts, lastCohort);
        vm.assertEq(word.key(), key, "key");
        vm.assertEq(word.lastId(), lastId, "lastId");
        vm.assertEq(word.nodes(), nodes, "nodes");
        vm.assertEq(word.cohorts(), cohorts, "cohorts");
        vm.assertEq(word.lastCohort(), lastCohort, "lastCohort");
        uint256 more = bound(count, 0, nodes < type(uint32).max - lastId ? nodes : type(uint32).max - lastId);
        assertMinter(word.minted(more), minterWord(key, lastId + more, nodes - more, cohorts, lastCohort));
        more = bound(count, 0, cohorts < type(uint16).max - lastCohort ? cohorts : type(uint16).max - lastCohort);
        assertMinter(word.opened(more), minterWord(key, lastId, nodes, cohorts - more, lastCohort + more));
        address other = address(~uint160(key));
        assertMinter(word.heldBy(other, ~nodes, ~cohorts), minterWord(other, lastId, ~nodes, ~cohorts, lastCohort));
    }

    function minterWord(address key, uint256 lastId, uint256 nodes, uint256 cohorts, uint256 lastCohort)
        internal
        pure
        returns (MinterWord)
    {
        bytes memory word = abi.encodePacked(uint16(lastCohort), uint16(cohorts), uint32(nodes), uint32(lastId), key);
        return MinterWord.wrap(uint256(bytes32(word)));
    }

    function assertMinter(MinterWord actual, MinterWord expected) internal pure {
        vm.assertEq(MinterWord.unwrap(actual), MinterWord.unwrap(expected), "the whole word");
    }

    function test_each_field_of_the_distributors_word_is_read_alone(address key, uint48 floorGwei, uint48 ceilingGwei)
        public
        pure
    {
        DistributorWord word = DistributorWords.packed(key, floorGwei, ceilingGwei);
        bytes memory expected = abi.encodePacked(ceilingGwei, floorGwei, key);
        vm.assertEq(DistributorWord.unwrap(word), uint256(bytes32(expected)), "the whole word");
        vm.assertEq(word.key(), key, "key");
        vm.assertEq(word.floorGwei(), floorGwei, "floor");
        vm.assertEq(word.ceilingGwei(), ceilingGwei, "ceiling");
    }

    function test_a_cohort_opens_with_its_schedule_alone(uint16 tier, uint40 firstDue, uint32 interval) public pure {
        assertFields(Cohorts.opened(tier, firstDue, interval), Fields(0, 0, firstDue, interval, tier, 0));
    }

    function test_each_change_of_the_books_changes_its_fields_alone(
        uint96 credited,
        uint96 withdrawn,
        uint48 round,
        bool paused
    ) public pure {
        credited = uint96(bound(credited, 1, type(uint96).max));
        withdrawn = uint96(bound(withdrawn, 0, credited - 1));
        round = uint48(bound(round, 0, type(uint48).max - 1));
        Books books = booksOf(credited, withdrawn, round, paused);
        vm.assertEq(books.credited(), credited, "credited");
        vm.assertEq(books.withdrawn(), withdrawn, "withdrawn");
        vm.assertEq(books.owed(), credited - withdrawn, "owed");
        vm.assertEq(books.round(), round, "round");
        vm.assertTrue(books.isPaused() == paused, "paused");
        uint256 more = type(uint96).max - credited;
        assertBooks(books.afterRound(more), booksOf(type(uint96).max, withdrawn, round + 1, paused));
        assertBooks(books.afterWithdrawal(credited - withdrawn), booksOf(credited, credited, round, paused));
        assertBooks(books.withPaused(true), booksOf(credited, withdrawn, round, true));
        assertBooks(books.withPaused(false), booksOf(credited, withdrawn, round, false));
    }

    function booksOf(uint96 credited, uint96 withdrawn, uint48 round, bool paused) internal pure returns (Books) {
        bytes memory word = abi.encodePacked(uint8(0), paused, round, withdrawn, credited);
        return Books.wrap(uint256(bytes32(word)));
    }

    function assertBooks(Books actual, Books expected) internal pure {
        vm.assertEq(Books.unwrap(actual), Books.unwrap(expected), "the whole word");
    }

    function test_each_field_of_a_use_is_read_alone(uint32 id, uint40 mintedAt) public pure {
        Use use = Uses.packed(id, mintedAt);
        vm.assertEq(Use.unwrap(use), uint256(bytes32(abi.encodePacked(bytes23(0), mintedAt, id))), "the whole word");
        vm.assertEq(use.id(), id, "id");
        vm.assertEq(use.mintedAt(), mintedAt, "mintedAt");
    }

    function test_each_change_of_a_supply_changes_its_fields_alone(uint32 minted, uint32 most, uint32 less)
        public
        pure
    {
        minted = uint32(bound(minted, 0, type(uint32).max - 1));
        most = uint32(bound(most, uint256(minted) + 1, type(uint32).max));
        Supply supply = supplyOf(minted, most);
        assertSupply(supply, minted, most);
        vm.assertTrue(!supply.isSpent(), "room for one");
        assertSupply(supply.joined(), minted + 1, most);
        assertSupply(supply.joined().left(), minted, most);
        less = uint32(bound(less, minted, most));
        assertSupply(supply.withMost(less), minted, less);
        vm.assertTrue(supply.withMost(minted).isSpent() && supplyOf(most, most).isSpent(), "no room");
        vm.assertTrue(supply.withMost(less).isSpent() == (less == minted), "room up to the cap");
    }

    function test_a_supply_that_was_never_written_is_empty_and_has_no_cap() public pure {
        assertSupply(Supply.wrap(0), 0, type(uint32).max);
        vm.assertEq(Supplies.MOST_MAX, type(uint32).max, "as many as there are ids");
    }

    function supplyOf(uint32 minted, uint32 most) internal pure returns (Supply) {
        return Supply.wrap(uint256(bytes32(abi.encodePacked(bytes24(0), type(uint32).max - most, minted))));
    }

    function assertSupply(Supply actual, uint32 minted, uint32 most) internal pure {
        vm.assertEq(Supply.unwrap(actual), Supply.unwrap(supplyOf(minted, most)), "the whole word");
        vm.assertEq(actual.minted(), minted, "minted");
        vm.assertEq(actual.most(), most, "most");
    }
}
