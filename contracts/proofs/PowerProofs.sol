// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {Factory} from "../test/FactoryTest.sol";
import {Proofs} from "./Proofs.sol";

/// @notice Owns the properties of keys and lists: who may do what, within which budget, and what a stolen key cannot do.
abstract contract PowerProofs is Proofs {
    /// @dev Roles, budgets, bounds, windows and pause are the owner's alone.
    function check_ownersPowers(address caller, uint8 power, address a, uint256 b, uint256 c) public {
        vm.assume(caller != OWNER);
        bytes32 before = powers();
        vm.assertTrue(!attempt(caller, 0, ownersCall(power % 11, a, b, c)), "refused");
        vm.assertEq(powers(), before, "as it was");
    }

    /// @dev A prover takes each branch by itself, where it could not look an array up by an index that is open.
    function ownersCall(uint256 power, address a, uint256 b, uint256 c) private pure returns (bytes memory) {
        if (power == 0) return abi.encodeCall(INodeFactory.setMinter, (a, MINTER, b, c));
        if (power == 1) return abi.encodeCall(INodeFactory.refillMinter, (a, b, b, c, c));
        if (power == 2) return abi.encodeCall(INodeFactory.setDistributor, (a, DISTRIBUTOR, b, c));
        if (power == 3) return abi.encodeCall(INodeFactory.setBounds, (a, b, c));
        if (power == 4) return abi.encodeCall(INodeFactory.setSwapsAllowance, (DISTRIBUTOR, b, 0));
        if (power == 5) return abi.encodeCall(INodeFactory.addNotOwed, (1, b, c));
        if (power == 6) return abi.encodeCall(INodeFactory.setInterval, (b, c));
        if (power == 7) return abi.encodeCall(INodeFactory.pause, ());
        if (power == 8) return abi.encodeCall(INodeFactory.unpause, ());
        if (power == 9) return abi.encodeCall(INodeFactory.capTier, (TIER, b));
        return abi.encodeCall(INodeFactory.transferOwnership, (a));
    }

    function powers() private view returns (bytes32) {
        (uint256 nodes, uint256 cohorts) = factory.budget();
        (uint256 floorGwei, uint256 ceilingGwei) = factory.bounds();
        (,,, uint256 interval,) = factory.cohort(DAILY);
        bytes memory keys = abi.encode(factory.owner(), factory.pendingOwner(), factory.minter(), factory.distributor());
        (, uint256 most) = factory.tierSupply(TIER);
        bytes memory rest = abi.encode(
            nodes, cohorts, floorGwei, ceilingGwei, factory.swapsAllowance(), factory.notOwedCount(), interval, most
        );
        return keccak256(bytes.concat(keys, rest, abi.encode(factory.paused())));
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

    /// @dev A stolen minter or distributor takes nothing from a node and no ether from the contract, whatever it calls. Each
    /// act is a property of its own, which a prover can follow.
    function check_stolenKey_credits(bool isMinter, uint80 b, uint80 amount, uint80 withdrawn) public {
        steal(isMinter, 0, 0, b, amount, withdrawn);
    }

    function check_stolenKey_skips(bool isMinter, uint256 a, uint80 amount, uint80 withdrawn) public {
        steal(isMinter, 1, a, 0, amount, withdrawn);
    }

    function check_stolenKey_withdrawsAll(bool isMinter, uint8 a, uint8 b, uint80 amount, uint80 withdrawn) public {
        steal(isMinter, 3, a % 4, b % 4, amount, withdrawn);
    }

    function check_stolenKey_transfers(bool isMinter, uint8 a, uint80 amount, uint80 withdrawn) public {
        // Each id as a constant: a prover cannot follow a transfer of one that is open.
        uint256 id = a == 0 ? ALICES : a == 1 ? BOBS : a == 2 ? NEWCOMER : 4;
        steal(isMinter, 6, id, 0, amount, withdrawn);
    }

    function check_stolenKey_approves(bool isMinter, uint8 a, uint80 amount, uint80 withdrawn) public {
        steal(isMinter, 7, a % 4, 0, amount, withdrawn);
    }

    function check_stolenKey_withdraws(bool isMinter, uint256 id, uint80 b, uint80 amount, uint80 withdrawn) public {
        steal(isMinter, 2, id % 4, b, amount, withdrawn);
    }

    function check_stolenKey_sweeps(bool isMinter, uint80 b, uint80 amount, uint80 withdrawn) public {
        steal(isMinter, 4, 0, b, amount, withdrawn);
    }

    function check_stolenKey_expels(bool isMinter, uint80 amount, uint80 withdrawn) public {
        steal(isMinter, 5, 0, 0, amount, withdrawn);
    }

    function check_stolenKey_mints(bool isMinter, uint80 b, uint80 amount, uint80 withdrawn) public {
        steal(isMinter, 8, OTHER, b, amount, withdrawn);
    }

    function check_stolenKey_opens(bool isMinter, uint256 a, uint80 b, uint80 amount, uint80 withdrawn) public {
        steal(isMinter, 9, a, b, amount, withdrawn);
    }

    function steal(bool isMinter, uint8 power, uint256 a, uint80 b, uint80 amount, uint80 withdrawn) private {
        history(amount, withdrawn);
        vm.warp(FIRST_DUE + INTERVAL);
        Books memory before = books();
        address thief = isMinter ? MINTER : DISTRIBUTOR;
        uint256 value = power == 0 ? uint256(b) * 3 : 0;
        bool ok = attempt(thief, value, theft(thief, power, a, b));
        Books memory afterwards = books();
        uint256 gift = ok && power == 0 ? b : 0;
        vm.assertEq(afterwards.alices, before.alices + gift, "Alice's");
        vm.assertEq(afterwards.bobs, before.bobs + gift, "Bob's");
        vm.assertEq(afterwards.newcomers, before.newcomers + gift, "the newcomer's");
        vm.assertEq(afterwards.owed, before.owed + gift * 3, "owed");
        vm.assertEq(afterwards.ether_, before.ether_ + gift * 3, "ether");
    }

    function theft(address thief, uint256 power, uint256 a, uint256 b) private view returns (bytes memory) {
        if (power == 0) return creditCall(2, entry(DAILY, 0, 1, b));
        if (power == 1) return creditCall(2, entry(DAILY, a, 0, 0));
        if (power == 2) return abi.encodeCall(INodeFactory.withdraw, (a, thief, b));
        if (power == 3) return abi.encodeCall(INodeFactory.withdrawAll, (ids(a, b), thief));
        if (power == 4) return abi.encodeCall(INodeFactory.sweep, (thief, b));
        if (power == 5) return abi.encodeCall(INodeFactory.expel, (new bytes32[](1)));
        if (power == 6) return abi.encodeCall(Factory.transferFrom, (ALICE, thief, a));
        if (power == 7) return abi.encodeCall(Factory.approve, (thief, a));
        if (power == 8) return mintCall(thief, a, bytes32(b));
        return abi.encodeCall(INodeFactory.openCohorts, (a, opening(b, b, b), block.timestamp));
    }

    function mintCall(address to, uint256 cohort, bytes32 ref) private view returns (bytes memory) {
        return abi.encodeCall(INodeFactory.mint, (order(to, cohort, ref), 0, 0, block.timestamp));
    }
}
