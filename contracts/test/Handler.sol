// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC721} from "solady/tokens/ERC721.sol";
import {INodeFactory} from "../src/INodeFactory.sol";
import {Comparing} from "./Comparing.sol";
import {Factory} from "./FactoryTest.sol";
import {Replay} from "./Replay.sol";
import {Vm} from "./Test.sol";

/// @notice Owns the random acts on nodes and money: each is done to the factory and to the model, must end the same way in
/// both, down to the error, and its logs are replayed. It must never filter its inputs so far that a refusal cannot happen.
abstract contract Handler is Comparing {
    // ---------------------------------------------------------------------------------------------------------- minter

    function openCohorts(uint256 seed) internal {
        INodeFactory.CohortOpening[] memory openings = new INodeFactory.CohortOpening[](dig(seed, 1) % 3);
        for (uint256 i; i < openings.length; ++i) {
            uint256 dice = dig(seed, 10 + i);
            // Mostly a few, so that cohorts share a tier.
            openings[i].tier = dice % 4 == 0 ? dice % (1 << 16) : dice % 3;
            openings[i].firstDue = block.timestamp - 1_000 + (dice >> 16) % 2_000;
            openings[i].interval = LEAST_INTERVAL - 1 + (dice >> 32) % 300;
        }
        uint256 first = cohorts + (rarely(seed, 2) ? dig(seed, 3) % 3 : 1);
        (address caller, uint256 until) = (who(seed, minter), deadline(seed));
        act(caller, 0, abi.encodeCall(INodeFactory.openCohorts, (first, openings, until)));
        bytes4 refusal = gate(caller, minter, INodeFactory.NotMinter.selector, until, false);
        settle(refusal != 0 ? refusal : modelOpen(first, openings));
    }

    function mint(uint256 seed, uint256 count) internal {
        INodeFactory.Order[] memory orders = new INodeFactory.Order[](bound(count, 1, 6));
        for (uint256 i; i < orders.length; ++i) {
            uint256 dice = dig(seed, 100 + i);
            orders[i].to = recipient(dice);
            orders[i].cohort = cohortBy(dice >> 16);
            // A third of the refs come from a small pool, so that some are used already.
            orders[i].ref = bytes32((dice >> 32) % 3 == 0 ? (dice >> 64) % 40 : dice);
        }
        (address caller, uint256 until) = (who(seed, minter), deadline(seed));
        (uint256 number, bytes32 blockHash, bool stale) = guard(seed);
        act(caller, 0, abi.encodeCall(INodeFactory.mint, (orders, number, blockHash, until)));
        bytes4 refusal = gate(caller, minter, INodeFactory.NotMinter.selector, until, stale);
        if (refusal == 0 && FORMER_NODES + nodes.length + orders.length > type(uint32).max) {
            refusal = INodeFactory.NodeIdsExhausted.selector;
        }
        settle(refusal);
        if (refusal != 0) return;
        uint256 log;
        for (uint256 i; i < orders.length; ++i) {
            log = assertLogs(orders[i], modelMint(orders[i]), log);
        }
        vm.assertEq(log, lastLogs.length, "not a word more");
    }

    /// @dev The logs of one order, from `log` on; where those of the next begin.
    function assertLogs(INodeFactory.Order memory order, uint256 outcome, uint256 log) private view returns (uint256) {
        if (outcome == SILENT) return log;
        if (outcome == MINTED) {
            vm.assertEq(lastLogs[log].topics[0], keccak256("Transfer(address,address,uint256)"), "Transfer");
            vm.assertEq(lastLogs[log + 1].topics[3], order.ref, "NodeMinted");
            return log + 2;
        }
        vm.assertEq(lastLogs[log].topics[1], order.ref, "the order's ref");
        if (outcome == TAKEN) {
            vm.assertEq(lastLogs[log].topics[0], INodeFactory.RefTaken.selector, "RefTaken");
        } else {
            vm.assertEq(lastLogs[log].topics[0], INodeFactory.MintSkipped.selector, "MintSkipped");
            vm.assertEq(uint256(bytes32(lastLogs[log].data)), outcome, "the first reason that applies");
        }
        return log + 1;
    }

    // ----------------------------------------------------------------------------------------------------- distributor

    function credit(uint256 seed, uint256 funds) internal {
        uint256 round = rounds + (rarely(seed, 1) ? dig(seed, 2) % 3 : 1);
        INodeFactory.CohortCredit[] memory credits = chooseCredits(seed);
        uint256 total;
        for (uint256 i; i < credits.length; ++i) {
            total += credits[i].amountPerNode * sizeOf(credits[i].cohort);
        }
        funds = bound(funds, 0, 15);
        uint256 value = funds < 12 ? total : funds < 15 ? 0 : total + 1;
        (address caller, uint256 until) = (who(seed, distributor), deadline(seed));
        (uint256 number, bytes32 blockHash, bool stale) = guard(seed);
        vm.deal(caller, value);
        act(caller, value, abi.encodeCall(INodeFactory.credit, (round, number, blockHash, until, credits)));
        vm.deal(caller, received[caller]);
        bytes4 refusal = gate(caller, distributor, INodeFactory.NotDistributor.selector, until, stale);
        if (refusal == 0) refusal = modelCredit(round, credits, value);
        settle(refusal);
        if (refusal == 0) etherIn += value;
    }

    /// @dev Mostly cohorts that are due; sometimes any, an unopened one, or one twice.
    function chooseCredits(uint256 seed) private view returns (INodeFactory.CohortCredit[] memory credits) {
        bool wild = dig(seed, 5) % 4 == 0;
        bool any = wild && dig(seed, 3) % 2 == 0;
        uint256[] memory chosen = new uint256[](10);
        uint256 count;
        for (uint256 cohort = FORMER_COHORTS; cohort <= type(uint16).max; ++cohort) {
            bool due = sizeOf(cohort) > 0 && schedules[cohort].nextDue <= block.timestamp;
            if (any ? dig(seed, 9 + cohort) % 4 == 0 : due) chosen[count++] = cohort;
        }
        if (count > 0 && wild && rarely(seed, 4)) chosen[count++] = chosen[0];
        credits = new INodeFactory.CohortCredit[](count);
        for (uint256 i; i < count; ++i) {
            credits[i] = chooseEntry(dig(seed, 99 + i), chosen[i], wild);
        }
    }

    /// @dev Mostly what is owed, caught up in full or in part; a wild one may be wrong in every field.
    function chooseEntry(uint256 dice, uint256 cohort, bool wild)
        private
        view
        returns (INodeFactory.CohortCredit memory entry)
    {
        Schedule memory schedule = schedules[cohort];
        uint256 due;
        uint256 notOwed;
        for (uint256 time = schedule.nextDue; schedule.open && time <= block.timestamp; time += schedule.interval) {
            if (notOwed == due && isInAWindow(time)) ++notOwed;
            ++due;
        }
        entry.cohort = cohort;
        entry.firstDue = schedule.nextDue + (wild && rarely(dice, 1) ? schedule.interval : 0);
        if (dice % 2 == 0) entry.skipped = wild && rarely(dice, 2) ? dig(dice, 3) % (due + 2) : notOwed;
        uint256 rest = due > entry.skipped ? due - entry.skipped : 0;
        entry.paid = dig(dice, 4) % 4 == 0 ? dig(dice, 5) % (rest + (wild ? 2 : 1)) : rest;
        if (!wild && entry.skipped + entry.paid == 0) entry.paid = 1;
        uint256 most = ceilingGwei * 1e9 * entry.paid;
        uint256 room = type(uint80).max - schedule.perNode;
        if (most > room) most = room + (wild && rarely(dice, 6) ? 1 : 0);
        entry.amountPerNode = rarely(dice, 7) ? most : bound(dig(dice, 8), 0, most) >> dig(dice, 9) % 80;
        uint256 least = floorGwei * 1e9 * entry.paid;
        if (entry.amountPerNode < least && !(wild && rarely(dice, 10))) entry.amountPerNode = least;
        if (wild && rarely(dice, 11)) entry.amountPerNode = most + 1;
    }

    function isInAWindow(uint256 time) private view returns (bool) {
        for (uint256 i; i < windows.length; ++i) {
            if (time >= windows[i].from && time < windows[i].until) return true;
        }
        return false;
    }

    // ---------------------------------------------------------------------------------------------------- node's owner

    function transfer(uint256 seed) internal {
        if (nodes.length == 0) return;
        uint256 id = anId(seed);
        address from = rarely(seed, 1) ? wallet(dig(seed, 2)) : nodeOf(id).owner;
        address caller = dig(seed, 3) % 3 == 0 ? wallet(dig(seed, 4)) : nodeOf(id).owner;
        address to = recipient(dig(seed, 5));
        uint256 kind = dig(seed, 6) % 16;
        bytes memory call = kind < 10
            ? abi.encodeCall(Factory.transferFrom, (from, to, id))
            : kind < 13
                ? abi.encodeWithSignature("safeTransferFrom(address,address,uint256)", from, to, id)
                : abi.encodeWithSignature("safeTransferFrom(address,address,uint256,bytes)", from, to, id, "data");
        uint256 value = kind == 15 ? 1 : 0;
        vm.deal(caller, caller.balance + value);
        act(caller, value, call);
        vm.deal(caller, received[caller]);
        if (value != 0) return settle(INodeFactory.EtherRefused.selector);
        bool refused = kind >= 10 && to == refuser;
        if (refused) {
            // The refusal undoes the model's changes.
            Node memory former = nodeOf(id);
            bytes4 refusal = modelTransfer(caller, from, to, id);
            if (refusal == 0) restore(id, former);
            settle(refusal != 0 ? refusal : ERC721.TransferToNonERC721ReceiverImplementer.selector);
        } else {
            settle(modelTransfer(caller, from, to, id));
        }
        checkWallet(from);
        if (to != self && to != address(0)) checkWallet(to);
    }

    function restore(uint256 id, Node memory former) private {
        nodes[id - FORMER_NODES - 1] = former;
    }

    function approve(uint256 seed) internal {
        if (nodes.length == 0) return;
        uint256 id = anId(seed);
        address holder = nodeOf(id).owner;
        address caller = dig(seed, 1) % 4 == 0 ? wallet(dig(seed, 2)) : holder;
        address to = wallet(dig(seed, 3));
        if (dig(seed, 4) % 2 == 0) {
            bool on = dig(seed, 5) % 3 != 0;
            act(caller, 0, abi.encodeCall(Factory.setApprovalForAll, (to, on)));
            operators[caller][to] = on;
            return settle(0);
        }
        act(caller, 0, abi.encodeCall(Factory.approve, (to, id)));
        if (caller != holder && !operators[holder][caller]) return settle(ERC721.NotOwnerNorApproved.selector);
        nodeOf(id).approved = to;
        settle(0);
    }

    function declineGifts(uint256 seed, bool declined) internal {
        address caller = wallet(seed);
        act(caller, 0, abi.encodeCall(INodeFactory.declineGifts, (declined)));
        declines[caller] = declined;
        settle(0);
    }

    function withdraw(uint256 seed, uint256 amount) internal {
        if (nodes.length == 0) return;
        uint256 id = anId(seed);
        Node memory node = nodeOf(id);
        address from = dig(seed, 1) % 8 == 0 ? wallet(dig(seed, 2)) : node.owner;
        amount = bound(amount, 0, node.credited - node.withdrawn + 1);
        address target = recipient(dig(seed, 3));
        act(from, 0, abi.encodeCall(INodeFactory.withdraw, (id, target, amount)));
        bytes4 refusal = modelWithdraw(from, id, target, amount);
        settle(refusal);
        if (refusal == 0) received[target] += amount;
    }

    function withdrawAll(uint256 caller, uint256 to, uint256 extra) internal {
        if (nodes.length == 0) return;
        address from = wallet(caller);
        address target = recipient(to);
        uint256[] memory ids = factory.nodesOf(from);
        // One id in place of another: a duplicate, or one of another owner.
        if (ids.length > 0 && extra % 3 == 0) ids[(extra >> 8) % ids.length] = anId(extra);
        act(from, 0, abi.encodeCall(INodeFactory.withdrawAll, (ids, target)));
        (bytes4 refusal, uint256 total) = modelWithdrawAll(from, ids, target);
        settle(refusal);
        received[target] += total;
    }

    // -------------------------------------------------------------------------------------------------- acting, inside

    Vm.Log[] internal lastLogs;
    bytes4 private lastError;
    bool private lastOk;

    function act(address caller, uint256 value, bytes memory call) internal {
        vm.recordLogs();
        vm.prank(caller);
        (bool ok, bytes memory data) = self.call{value: value}(call);
        lastOk = ok;
        lastError = ok ? bytes4(0) : bytes4(data);
        delete lastLogs;
        Vm.Log[] memory logs = vm.getRecordedLogs();
        if (!ok) return;
        for (uint256 i; i < logs.length; ++i) {
            lastLogs.push(logs[i]);
        }
        replay.apply_(logs);
    }

    /// @dev Both must have come to the same end.
    function settle(bytes4 refusal) internal view {
        vm.assertEq(bytes32(lastError), bytes32(refusal), "the model expects otherwise");
        vm.assertTrue(lastOk == (refusal == 0), "success or not");
    }

    /// @dev The first check that a call of a hot key meets.
    function gate(address caller, address holder, bytes4 notHolder, uint256 until, bool stale)
        private
        view
        returns (bytes4)
    {
        if (caller != holder) return notHolder;
        if (isPaused) return INodeFactory.IsPaused.selector;
        if (until < block.timestamp) return INodeFactory.Expired.selector;
        return stale ? INodeFactory.StaleFork.selector : bytes4(0);
    }

    function guard(uint256 seed) private returns (uint256 number, bytes32 blockHash, bool stale) {
        uint256 kind = dig(seed, 50) % 8;
        if (kind < 4) return (0, 0, false);
        number = block.number - 1 - dig(seed, 51) % 256;
        blockHash = bytes32(dig(seed, 52) | 1);
        vm.setBlockhash(number, blockHash);
        if (kind == 4) return (number, bytes32(uint256(blockHash) ^ 2), true);
        return (number, blockHash, false);
    }

    function deadline(uint256 seed) private view returns (uint256) {
        return block.timestamp + dig(seed, 53) % 2 - (rarely(seed, 54) ? 1 : 0);
    }

    function rarely(uint256 seed, uint256 index) internal pure returns (bool) {
        return dig(seed, 1_000 + index) % 16 == 0;
    }

    function dig(uint256 seed, uint256 index) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, index)));
    }

    /// @dev Mostly who it must be.
    function who(uint256 seed, address holder) internal view virtual returns (address);

    function wallet(uint256 dice) internal view returns (address) {
        return wallets[dice % wallets.length];
    }

    function recipient(uint256 dice) internal view returns (address) {
        uint256 special = (dice >> 8) % 32;
        return special == 0 ? address(0) : special == 1 ? self : wallet(dice);
    }

    /// @dev One of those that can be opened, the last of which is 65535, or one before them.
    function cohortBy(uint256 dice) internal pure returns (uint256) {
        return dice % 32 == 0 ? 0 : FORMER_COHORTS + (dice >> 8) % 8;
    }

    function anId(uint256 seed) internal view returns (uint256) {
        return FORMER_NODES + 1 + dig(seed, 60) % nodes.length;
    }
}
