// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {Factory} from "../test/FactoryTest.sol";
import {Proofs} from "./Proofs.sol";

/// @notice Owns the properties of keys and lists: who may do what, within which budget, and what a stolen key cannot do.
abstract contract PowerProofs is Proofs {
    /// @dev Roles, budgets, bounds, allowance, caps, windows, intervals, pause, surplus and expulsion are the owner's alone.
    /// Each call is one that the owner's would carry out, so that it is the caller that refuses it.
    function check_ownersPowers(address caller, uint8 power, address a, uint32 b, uint16 c) public {
        vm.prank(OWNER);
        factory.addNotOwed(1, START, FIRST_DUE);
        vm.deal(address(factory), 1);
        vm.assume(c < FIRST_DUE - START);
        bytes32 before = powers();
        Holdings memory holdings = holdingsOf(caller);
        bool ok = attempt(caller, 0, ownersCall(power % 14, a, b, c));
        vm.assertTrue(ok == (caller == OWNER), "the owner alone");
        if (ok) return;
        vm.assertEq(powers(), before, "as it was");
        assertHeld(holdings, caller);
    }

    /// @dev A prover takes each branch by itself, where it could not look an array up by an index that is open.
    function ownersCall(uint256 power, address a, uint32 b, uint16 c) private pure returns (bytes memory) {
        if (power == 0) return abi.encodeCall(INodeFactory.setMinter, (a, MINTER, b, c));
        if (power == 1) return abi.encodeCall(INodeFactory.refillMinter, (MINTER, b, b, c, c));
        if (power == 2) return abi.encodeCall(INodeFactory.setDistributor, (a, DISTRIBUTOR, c, uint256(c) + b));
        if (power == 3) return abi.encodeCall(INodeFactory.setBounds, (DISTRIBUTOR, c, uint256(c) + b));
        if (power == 4) return abi.encodeCall(INodeFactory.setSwapsAllowance, (DISTRIBUTOR, b, 0));
        if (power == 5) return abi.encodeCall(INodeFactory.addNotOwed, (2, FIRST_DUE + c, FIRST_DUE + c + 1 + b));
        if (power == 6) return abi.encodeCall(INodeFactory.endNotOwed, (1, START + c));
        if (power == 7) return abi.encodeCall(INodeFactory.setInterval, (DAILY, LEAST_INTERVAL + c));
        if (power == 8) return abi.encodeCall(INodeFactory.pause, ());
        if (power == 9) return abi.encodeCall(INodeFactory.unpause, ());
        if (power == 10) return abi.encodeCall(INodeFactory.capTier, (TIER, b < 2 ? 2 : b));
        if (power == 11) return abi.encodeCall(INodeFactory.sweep, (OWNER, 1));
        if (power == 12) return expelCall("alice");
        return abi.encodeCall(INodeFactory.transferOwnership, (a));
    }

    function expelCall(bytes32 ref) private pure returns (bytes memory) {
        bytes32[] memory refs = new bytes32[](1);
        refs[0] = ref;
        return abi.encodeCall(INodeFactory.expel, (refs));
    }

    function powers() private view returns (bytes32) {
        (uint256 floorGwei, uint256 ceilingGwei) = factory.bounds();
        (,,, uint256 interval,) = factory.cohort(DAILY);
        (uint256 from, uint256 until) = factory.notOwed(1);
        bytes memory keys = abi.encode(factory.owner(), factory.pendingOwner(), factory.minter(), factory.distributor());
        bytes memory rest =
            abi.encode(floorGwei, ceilingGwei, factory.swapsAllowance(), factory.notOwedCount(), from, until, interval);
        return keccak256(bytes.concat(keys, rest, abi.encode(factory.paused())));
    }

    /// @dev What a thief might take or use up: the nodes' balances, owners, approvals and cohorts; ids, cohorts, budgets and
    /// the tier's supply; and how many nodes the caller has.
    struct Holdings {
        Books books;
        address[3] owners;
        address[3] approved;
        uint256[3] cohorts;
        uint256 lastId;
        uint256 lastCohort;
        uint256 nodesLeft;
        uint256 cohortsLeft;
        uint256 minted;
        uint256 most;
        uint256 held;
    }

    function holdingsOf(address caller) private view returns (Holdings memory h) {
        h.books = books();
        h.lastId = factory.lastId();
        for (uint256 i; i < 3; ++i) {
            if (i + 1 > h.lastId) break;
            (h.owners[i], h.approved[i]) = (factory.ownerOf(i + 1), factory.getApproved(i + 1));
            (,,,, h.cohorts[i]) = factory.nodeInfo(i + 1);
        }
        h.lastCohort = factory.lastCohort();
        (h.nodesLeft, h.cohortsLeft) = factory.budget();
        (h.minted, h.most) = factory.tierSupply(TIER);
        h.held = caller == address(0) ? 0 : factory.balanceOf(caller);
    }

    function assertHeld(Holdings memory expected, address caller) private view {
        Holdings memory actual = holdingsOf(caller);
        vm.assertEq(keccak256(abi.encode(actual.books)), keccak256(abi.encode(expected.books)), "balances and ether");
        for (uint256 i; i < 3; ++i) {
            vm.assertEq(actual.owners[i], expected.owners[i], "owner");
            vm.assertEq(actual.approved[i], expected.approved[i], "approved account");
            vm.assertEq(actual.cohorts[i], expected.cohorts[i], "cohort");
        }
        vm.assertEq(actual.lastId, expected.lastId, "nodes");
        vm.assertEq(actual.lastCohort, expected.lastCohort, "cohorts");
        vm.assertEq(actual.nodesLeft, expected.nodesLeft, "budget of nodes");
        vm.assertEq(actual.cohortsLeft, expected.cohortsLeft, "budget of cohorts");
        vm.assertEq(actual.minted, expected.minted, "supply");
        vm.assertEq(actual.most, expected.most, "cap");
        vm.assertEq(actual.held, expected.held, "the caller's nodes");
    }

    /// @dev A pending owner has no power until it accepts, and then all.
    function check_pendingOwner(address next) public {
        vm.assume(next != OWNER && next != address(0));
        vm.prank(OWNER);
        factory.transferOwnership(next);
        vm.assertTrue(!attempt(next, 0, abi.encodeCall(INodeFactory.pause, ())), "not yet");
        vm.assertTrue(attempt(next, 0, abi.encodeCall(INodeFactory.acceptOwnership, ())), "accepts");
        vm.assertTrue(attempt(next, 0, abi.encodeCall(INodeFactory.pause, ())), "now");
        vm.assertTrue(!attempt(OWNER, 0, abi.encodeCall(INodeFactory.unpause, ())), "the former no more");
    }

    /// @dev A mint gives one node to one wallet, within cap and budget, and moves no ether that is owed.
    function check_mint(address caller, address to, bytes32 ref, uint16 cohort, uint32 budget, uint80 amount) public {
        vm.assume(to != address(0) && to != address(factory));
        history(amount, 0);
        vm.prank(OWNER);
        factory.setMinter(MINTER, MINTER, budget, 0);
        Books memory before = books();
        uint256 held = factory.balanceOf(to);
        bool isFree = factory.nodeOfRef(ref) == 0;
        bool ok = attempt(caller, 0, mintCall(to, cohort, ref));
        vm.assertTrue(ok == (caller == MINTER), "the minter alone");
        assertSame(before);
        bool minted = ok && isFree && budget != 0 && (cohort == DAILY || cohort == OTHER);
        vm.assertEq(factory.balanceOf(to), held + (minted ? 1 : 0), "one node");
        vm.assertEq(factory.lastId(), minted ? 4 : 3, "one id");
        (uint256 left,) = factory.budget();
        vm.assertEq(left, minted ? budget - 1 : budget, "out of the budget");
        if (minted) vm.assertEq(balanceOfNode(4), 0, "nothing of turns before it");
    }

    /// @dev A cap is never raised, never below what is minted, and no mint goes beyond it.
    function check_supply(uint32 first, uint256 second, address to, bytes32 ref) public {
        vm.assume(to != address(0) && to != address(factory) && first >= 2);
        vm.prank(OWNER);
        factory.capTier(TIER, first);
        bool ok = attempt(OWNER, 0, abi.encodeCall(INodeFactory.capTier, (TIER, second)));
        vm.assertTrue(ok == (second <= first && second >= 2), "lower, and no lower than what is minted");
        (, uint256 most) = factory.tierSupply(TIER);
        vm.assertEq(most, ok ? second : first, "as it was said");
        attempt(MINTER, 0, mintCall(to, DAILY, ref));
        (uint256 minted, uint256 after_) = factory.tierSupply(TIER);
        bool fits = most > 2 && ref != "alice" && ref != "bob";
        vm.assertEq(minted, fits ? 3 : 2, "within it");
        vm.assertEq(after_, most, "which a mint leaves alone");
    }

    /// @dev A transfer moves one node from list to list, its balance with it, and no other's. Each node is a property of
    /// its own, because a prover cannot follow an id that is open.
    function check_transfer_alices(address caller, address from, address to, uint80 amount, uint80 withdrawn) public {
        transferOne(caller, from, to, ALICES, amount, withdrawn);
    }

    function check_transfer_bobs(address caller, address from, address to, uint80 amount, uint80 withdrawn) public {
        transferOne(caller, from, to, BOBS, amount, withdrawn);
    }

    function check_transfer_newcomers(address caller, address from, address to, uint80 amount, uint80 withdrawn)
        public
    {
        transferOne(caller, from, to, NEWCOMER, amount, withdrawn);
    }

    function transferOne(address caller, address from, address to, uint256 id, uint80 amount, uint80 withdrawn)
        private
    {
        history(amount, withdrawn);
        // Nobody calls from the zero address, which is no account. Solady would treat it as approved.
        vm.assume(caller != address(0) && to != address(factory));
        Books memory before = books();
        address holder = id == ALICES ? ALICE : id == BOBS ? BOB : CAROL;
        if (from == holder) from = holder;
        to = known(to);
        uint256 heldBefore = to == address(0) ? 0 : factory.balanceOf(to);
        bool ok = attempt(caller, 0, abi.encodeCall(Factory.transferFrom, (from, to, id)));
        vm.assertTrue(ok == (caller == holder && from == holder && to != address(0)), "its owner alone");
        assertSame(before);
        vm.assertEq(factory.ownerOf(id), ok ? to : holder, "owner");
        if (!ok || to == holder) return;
        vm.assertEq(factory.balanceOf(to), heldBefore + 1, "one more");
        vm.assertEq(factory.balanceOf(holder), 0, "its only one left");
        if (to != ALICE && to != BOB && to != CAROL) return;
        uint256[] memory list = factory.nodesOf(to);
        vm.assertEq(list.length, heldBefore + 1, "one more in its list");
        vm.assertEq(list[heldBefore], id, "this one");
    }

    /// @dev The wallets that hold a node as constants: a prover cannot follow a list whose wallet is open.
    function known(address to) private pure returns (address) {
        return to == ALICE ? ALICE : to == BOB ? BOB : to == CAROL ? CAROL : to;
    }

    /// @dev A stolen minter or distributor takes nothing from a node and no ether from the contract, whatever it calls, and
    /// does no more than its role may. Each act is a property of its own, which a prover can follow. Each would succeed for
    /// whoever may do it, so that it is the caller that is refused.
    function check_stolenKey_credits(bool isMinter, uint80 b, uint80 amount, uint80 withdrawn) public {
        address thief = enter(isMinter, amount, withdrawn);
        Holdings memory h = holdingsOf(thief);
        bool ok = attempt(thief, uint256(b) * 3, creditCall(2, entry(DAILY, 0, 1, b)));
        vm.assertTrue(ok == (!isMinter && b <= CEILING_GWEI * 1 gwei), "the distributor, within its bounds");
        if (ok) {
            (h.books.alices, h.books.bobs, h.books.newcomers) =
            (h.books.alices + b, h.books.bobs + b, h.books.newcomers + b);
            (h.books.owed, h.books.ether_) = (h.books.owed + uint256(b) * 3, h.books.ether_ + uint256(b) * 3);
            h.books.nextDue += INTERVAL;
        }
        assertHeld(h, thief);
    }

    /// @dev Two turns lie in a window, and a third behind it.
    function check_stolenKey_skips(bool isMinter, uint256 a, uint80 amount, uint80 withdrawn) public {
        address thief = enter(isMinter, amount, withdrawn);
        vm.prank(OWNER);
        factory.addNotOwed(1, FIRST_DUE + INTERVAL, FIRST_DUE + 3 * INTERVAL);
        vm.warp(FIRST_DUE + 5 * INTERVAL);
        Holdings memory h = holdingsOf(thief);
        bool ok = attempt(thief, 0, creditCall(2, entry(DAILY, a, 0, 0)));
        vm.assertTrue(ok == (!isMinter && (a == 1 || a == 2)), "the distributor, within the window");
        if (ok) h.books.nextDue += a * INTERVAL;
        assertHeld(h, thief);
    }

    function check_stolenKey_withdrawsAll(bool isMinter, uint8 a, uint8 b, uint80 amount, uint80 withdrawn) public {
        address thief = enter(isMinter, amount, withdrawn);
        refused(thief, abi.encodeCall(INodeFactory.withdrawAll, (ids(a % 4, b % 4), thief)));
    }

    function check_stolenKey_transfers(bool isMinter, uint8 a, uint80 amount, uint80 withdrawn) public {
        address thief = enter(isMinter, amount, withdrawn);
        // Each node as a constant, and from the wallet that has it: a prover cannot follow a transfer of one that is open.
        (address from, uint256 id) = a == 0 ? (ALICE, ALICES) : a == 1 ? (BOB, BOBS) : (CAROL, NEWCOMER);
        refused(thief, abi.encodeCall(Factory.transferFrom, (from, thief, id)));
    }

    function check_stolenKey_approves(bool isMinter, uint8 a, uint80 amount, uint80 withdrawn) public {
        address thief = enter(isMinter, amount, withdrawn);
        refused(thief, abi.encodeCall(Factory.approve, (thief, 1 + a % 3)));
    }

    function check_stolenKey_withdraws(bool isMinter, uint256 id, uint80 b, uint80 amount, uint80 withdrawn) public {
        address thief = enter(isMinter, amount, withdrawn);
        refused(thief, abi.encodeCall(INodeFactory.withdraw, (id % 4, thief, b)));
    }

    function check_stolenKey_sweeps(bool isMinter, uint80 b, uint80 amount, uint80 withdrawn) public {
        address thief = enter(isMinter, amount, withdrawn);
        vm.deal(address(factory), address(factory).balance + b);
        refused(thief, abi.encodeCall(INodeFactory.sweep, (thief, b)));
    }

    function check_stolenKey_expels(bool isMinter, uint80 amount, uint80 withdrawn) public {
        address thief = enter(isMinter, amount, withdrawn);
        refused(thief, expelCall("newcomer"));
    }

    /// @dev A minter takes one node, for a ref that is free, out of its budget and within the tier's cap.
    function check_stolenKey_mints(bool isMinter, bytes32 ref, uint32 budget, uint32 most, uint80 amount) public {
        address thief = enter(isMinter, amount, 0);
        vm.assume(most >= 3);
        vm.prank(OWNER);
        factory.setMinter(MINTER, MINTER, budget, 0);
        capTier(TIER, most);
        bool isFree = factory.nodeOfRef(ref) == 0;
        Holdings memory h = holdingsOf(thief);
        bool ok = attempt(thief, 0, mintCall(thief, OTHER, ref));
        vm.assertTrue(ok == isMinter, "the minter alone");
        if (ok && isFree && budget != 0 && most > 3) {
            (h.lastId, h.minted, h.held, h.nodesLeft) = (4, 4, h.held + 1, h.nodesLeft - 1);
            vm.assertEq(factory.ownerOf(4), thief, "its own");
            vm.assertEq(balanceOfNode(4), 0, "with nothing in it");
        }
        assertHeld(h, thief);
        vm.assertEq(factory.nodeOfRef("alice") + factory.nodeOfRef("bob") * 10, ALICES + BOBS * 10, "refs stay used");
    }

    /// @dev A minter opens one cohort, with the next number, out of its budget.
    function check_stolenKey_opens(bool isMinter, uint256 a, uint16 b, uint16 budget, uint80 amount) public {
        address thief = enter(isMinter, amount, 0);
        vm.prank(OWNER);
        factory.setMinter(MINTER, MINTER, 0, budget);
        Holdings memory h = holdingsOf(thief);
        bytes memory call =
            abi.encodeCall(INodeFactory.openCohorts, (a, opening(b, START + b, LEAST_INTERVAL + b), block.timestamp));
        bool ok = attempt(thief, 0, call);
        vm.assertTrue(ok == (isMinter && a == 3 && budget != 0), "the minter, the next one, within its budget");
        if (ok) (h.lastCohort, h.cohortsLeft) = (3, h.cohortsLeft - 1);
        assertHeld(h, thief);
    }

    /// @dev A due turn of three nodes, and a thief of one of the keys.
    function enter(bool isMinter, uint80 amount, uint80 withdrawn) private returns (address thief) {
        history(amount, withdrawn);
        vm.warp(FIRST_DUE + INTERVAL);
        return isMinter ? MINTER : DISTRIBUTOR;
    }

    function refused(address thief, bytes memory call) private {
        bytes32 before = powers();
        Holdings memory h = holdingsOf(thief);
        vm.assertTrue(!attempt(thief, 0, call), "refused");
        vm.assertEq(powers(), before, "as it was");
        assertHeld(h, thief);
    }

    function mintCall(address to, uint256 cohort, bytes32 ref) private view returns (bytes memory) {
        return abi.encodeCall(INodeFactory.mint, (order(to, cohort, ref), 0, 0, block.timestamp));
    }
}
