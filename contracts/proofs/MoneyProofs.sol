// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {Proofs} from "./Proofs.sol";

/// @notice Owns the properties of ether: what a withdrawal, a sweep and a credit move, and what they leave alone.
abstract contract MoneyProofs is Proofs {
    address internal constant VAULT = address(0xC1);

    /// @dev It pays exactly, only the owner, at most what is credited, and changes no other node's.
    function check_withdraw(address caller, uint80 amount, uint80 withdrawn, uint256 wanted) public {
        history(amount, withdrawn);
        Books memory before = books();
        bool ok = attempt(caller, 0, abi.encodeCall(INodeFactory.withdraw, (ALICES, VAULT, wanted)));
        bool may = caller == ALICE && wanted != 0 && wanted <= before.alices;
        vm.assertTrue(ok == may, "the owner alone, at most the balance");
        if (!ok) return assertSame(before);
        vm.assertEq(VAULT.balance, wanted, "paid exactly");
        (before.alices, before.owed, before.ether_) =
        (before.alices - wanted, before.owed - wanted, before.ether_ - wanted);
        assertSame(before);
    }

    /// @dev It pays the sum of what is named, once, and leaves every other node its own. One node named twice, and each pair
    /// of two, is a property of its own: a prover cannot follow an id that is open.
    function check_withdrawAll_sameTwice(address caller, uint80 amount, uint80 withdrawn) public {
        withdrawBoth(caller, amount, withdrawn, ALICES, ALICES);
    }

    function check_withdrawAll_twoOwners(address caller, uint80 amount, uint80 withdrawn) public {
        withdrawBoth(caller, amount, withdrawn, ALICES, BOBS);
    }

    function check_withdrawAll_creditedAndNot(address caller, uint80 amount, uint80 withdrawn) public {
        withdrawBoth(caller, amount, withdrawn, NEWCOMER, BOBS);
    }

    function check_withdrawAll_noSuchNode(address caller, uint80 amount, uint80 withdrawn) public {
        withdrawBoth(caller, amount, withdrawn, ALICES, 4);
    }

    function withdrawBoth(address caller, uint80 amount, uint80 withdrawn, uint256 first, uint256 second) private {
        history(amount, withdrawn);
        Books memory before = books();
        bytes memory call = abi.encodeCall(INodeFactory.withdrawAll, (ids(first, second), VAULT));
        bool ok = attempt(caller, 0, call);
        bool ownBoth = owns(caller, first) && owns(caller, second);
        uint256 total = ownBoth ? balanceOf(before, first) + (first == second ? 0 : balanceOf(before, second)) : 0;
        vm.assertTrue(ok == (total != 0), "own nodes alone, and something to move");
        if (!ok) return assertSame(before);
        vm.assertEq(VAULT.balance, total, "paid exactly");
        if (caller == ALICE) before.alices = 0;
        if (caller == BOB) before.bobs = 0;
        (before.owed, before.ether_) = (before.owed - total, before.ether_ - total);
        assertSame(before);
    }

    function owns(address caller, uint256 id) private pure returns (bool) {
        return id == ALICES ? caller == ALICE : id == BOBS ? caller == BOB : id == NEWCOMER && caller == CAROL;
    }

    function balanceOf(Books memory before, uint256 id) private pure returns (uint256) {
        return id == ALICES ? before.alices : id == BOBS ? before.bobs : before.newcomers;
    }

    /// @dev Sweeping leaves what is owed.
    function check_sweep(address caller, uint80 amount, uint80 withdrawn, uint96 surplus, uint256 wanted) public {
        history(amount, withdrawn);
        vm.deal(address(factory), address(factory).balance + surplus);
        Books memory before = books();
        bool ok = attempt(caller, 0, abi.encodeCall(INodeFactory.sweep, (VAULT, wanted)));
        vm.assertTrue(ok == (caller == OWNER && wanted != 0 && wanted <= surplus), "the owner, up to the surplus");
        if (ok) before.ether_ -= wanted;
        assertSame(before);
        vm.assertTrue(before.ether_ >= before.owed, "covered");
    }

    struct Round {
        uint80 amount;
        uint96 value;
        uint96 surplus;
        uint96 allowance;
        uint48 floorGwei;
        uint48 ceilingGwei;
        uint8 paid;
    }

    /// @dev A credit moves exactly amount times size, within the bounds, and needs all of it: sent, or as surplus allowed.
    function check_credit(Round memory r) public {
        vm.assume(r.floorGwei <= r.ceilingGwei && r.paid <= 3);
        vm.prank(OWNER);
        factory.setBounds(DISTRIBUTOR, r.floorGwei, r.ceilingGwei);
        allow(r.allowance);
        vm.deal(address(factory), r.surplus);
        vm.warp(FIRST_DUE + 2 * INTERVAL);
        Books memory before = books();
        bool ok = attempt(DISTRIBUTOR, r.value, creditCall(1, entry(DAILY, 0, r.paid, r.amount)));
        uint256 total = uint256(r.amount) * 2;
        vm.assertTrue(ok == (isBounded(r) && isFunded(r, total)), "within bounds, and covered");
        if (!ok) return assertSame(before);
        (before.alices, before.bobs, before.owed) = (r.amount, r.amount, total);
        (before.ether_, before.nextDue) = (before.ether_ + r.value, FIRST_DUE + r.paid * INTERVAL);
        assertSame(before);
        vm.assertEq(factory.swapsAllowance(), r.allowance - (total - r.value), "allowance");
    }

    function isBounded(Round memory r) private pure returns (bool) {
        uint256 least = uint256(r.floorGwei) * 1e9 * r.paid;
        uint256 most = uint256(r.ceilingGwei) * 1e9 * r.paid;
        return r.paid != 0 && r.amount >= least && r.amount <= most;
    }

    function isFunded(Round memory r, uint256 total) private pure returns (bool) {
        return r.value == total || (r.value == 0 && total <= r.allowance && total <= r.surplus);
    }

    /// @dev Only turns that have come and that a window holds are skipped; no node's balance moves.
    function check_skip(uint40 from, uint40 until, uint40 now_, uint16 skipped, uint80 amount, uint80 withdrawn)
        public
    {
        history(amount, withdrawn);
        vm.assume(from < until && skipped < 8);
        vm.prank(OWNER);
        factory.addNotOwed(1, from, until);
        vm.warp(now_);
        Books memory before = books();
        INodeFactory.CohortCredit[] memory credits = entry(DAILY, skipped, 0, 0);
        bool ok = attempt(DISTRIBUTOR, 0, creditCall(2, credits));
        uint256 last = before.nextDue + skipped * INTERVAL - (skipped == 0 ? 0 : INTERVAL);
        bool may = skipped != 0 && last <= now_ && from <= before.nextDue && last < until;
        vm.assertTrue(ok == may, "come, and not owed");
        if (ok) before.nextDue += skipped * INTERVAL;
        assertSame(before);
    }

    /// @dev The interval that the cohort has when the owner expels.
    struct Aged {
        uint80 amount;
        uint80 withdrawn;
        uint40 age;
        uint32 interval;
    }

    /// @dev Expelling moves nothing that is owed, and takes a credited node only within its window, which follows the
    /// interval that the cohort has by then. Each ref is a property of its own, because a prover cannot follow a ref that
    /// is open to a node.
    function check_expel_alices(address caller, Aged memory a) public {
        expelOne(caller, a, "alice", a.amount == 0 || isYoung(a));
    }

    function check_expel_bobs(address caller, Aged memory a) public {
        expelOne(caller, a, "bob", a.amount == 0 || isYoung(a));
    }

    function check_expel_newcomers(address caller, Aged memory a) public {
        expelOne(caller, a, "newcomer", true);
    }

    function check_expel_unusedRef(address caller, Aged memory a, bytes32 ref) public {
        vm.assume(ref != "alice" && ref != "bob" && ref != "newcomer");
        expelOne(caller, a, ref, false);
    }

    function isYoung(Aged memory a) private pure returns (bool) {
        return a.age < 2 * uint256(a.interval) && a.age < EXPULSION_PERIOD;
    }

    function expelOne(address caller, Aged memory a, bytes32 ref, bool may) private {
        history(a.amount, a.withdrawn);
        vm.assume(a.age >= INTERVAL && a.interval >= LEAST_INTERVAL);
        vm.prank(OWNER);
        factory.setInterval(DAILY, a.interval);
        vm.warp(START + a.age);
        Books memory before = books();
        bytes32[] memory refs = new bytes32[](1);
        refs[0] = ref;
        bool ok = attempt(caller, 0, abi.encodeCall(INodeFactory.expel, (refs)));
        vm.assertTrue(ok == (caller == OWNER), "the owner alone");
        assertSame(before);
        bool gone = ok && may;
        uint256 left;
        for (uint256 id = 1; id <= 3; ++id) {
            (,,,, uint256 cohort) = factory.nodeInfo(id);
            if (cohort == DAILY) ++left;
            else vm.assertTrue(gone && cohort == 0 && factory.nodeOfRef(ref) == id, "the one that was named");
        }
        vm.assertEq(left, gone ? 2 : 3, "one at most");
        (, uint256 size,,,) = factory.cohort(DAILY);
        vm.assertEq(size, left, "as many as are left");
        (uint256 minted,) = factory.tierSupply(TIER);
        vm.assertEq(minted, left, "and in the tier");
    }
}
