// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC721} from "solady/tokens/ERC721.sol";
import {INodeFactory} from "../src/INodeFactory.sol";
import {Test} from "./Test.sol";

/// @notice Owns what the factory should do, as naively as it can be said: one record per node, credited one by one, every
/// count a loop. It must never share a line, a packing or a shortcut with the factory.
abstract contract Model is Test {
    struct Node {
        address owner;
        uint256 cohort;
        bytes32 ref;
        uint256 credited;
        uint256 withdrawn;
    }

    struct Schedule {
        bool open;
        uint256 tier;
        uint256 nextDue;
        uint256 interval;
        uint256 perNode;
    }

    uint256 internal constant CAP = 18;
    /// @dev Node 1 is at index 0.
    Node[] internal nodes;
    mapping(uint256 cohort => Schedule) internal schedules;
    uint256 internal rounds;
    bool internal isPaused;
    uint256 internal allowance;
    uint256 internal etherHeld;
    address internal self;
    address internal refuser;

    // ----------------------------------------------------------------------------------------------------- counting

    function sizeOf(uint256 cohort) internal view returns (uint256 size) {
        for (uint256 i; i < nodes.length; ++i) {
            if (nodes[i].cohort == cohort) ++size;
        }
    }

    function countOf(address wallet) internal view returns (uint256 count) {
        for (uint256 i; i < nodes.length; ++i) {
            if (nodes[i].owner == wallet) ++count;
        }
    }

    /// @dev 0 for a ref that was never used.
    function idOf(bytes32 ref) internal view returns (uint256) {
        for (uint256 i; i < nodes.length; ++i) {
            if (nodes[i].ref == ref) return i + 1;
        }
        return 0;
    }

    function owed() internal view returns (uint256 sum) {
        for (uint256 i; i < nodes.length; ++i) {
            sum += nodes[i].credited - nodes[i].withdrawn;
        }
    }

    function isImpossible(address to) internal view returns (bool) {
        return to == address(0) || to == self;
    }

    // ------------------------------------------------------------------------------------------------------- minting

    function modelMint(INodeFactory.Order memory order) internal {
        if (idOf(order.ref) != 0 || isImpossible(order.to) || countOf(order.to) == CAP) return;
        Schedule storage schedule = schedules[order.cohort];
        if (!schedule.open) return;
        bool due = schedule.nextDue <= block.timestamp;
        if (due && sizeOf(order.cohort) > 0) return;
        while (schedule.nextDue <= block.timestamp) {
            schedule.nextDue += schedule.interval;
        }
        nodes.push(Node(order.to, order.cohort, order.ref, 0, 0));
    }

    function modelOpen(uint256 cohort, uint256 tier, uint256 firstDue, uint256 interval) internal returns (bytes4) {
        if (interval == 0 || firstDue == 0) return INodeFactory.ScheduleOutOfRange.selector;
        if (schedules[cohort].open) return INodeFactory.CohortAlreadyOpen.selector;
        schedules[cohort] = Schedule(true, tier, firstDue, interval, 0);
        return 0;
    }

    function modelSetInterval(uint256 cohort, uint256 interval) internal returns (bytes4) {
        Schedule storage schedule = schedules[cohort];
        if (!schedule.open) return INodeFactory.CohortNotOpen.selector;
        if (interval == 0) return INodeFactory.ScheduleOutOfRange.selector;
        bool behind = schedule.nextDue + schedule.interval <= block.timestamp;
        bool wouldBeBehind = schedule.nextDue + interval <= block.timestamp;
        if (sizeOf(cohort) > 0 && (behind || wouldBeBehind)) return INodeFactory.TurnsOverdue.selector;
        schedule.interval = interval;
        return 0;
    }

    // ----------------------------------------------------------------------------------------------------- crediting

    function modelCredit(uint256 round, INodeFactory.CohortCredit[] memory credits, uint256 value)
        internal
        returns (bytes4)
    {
        if (isPaused) return INodeFactory.IsPaused.selector;
        if (round != rounds + 1) return INodeFactory.WrongRound.selector;
        if (credits.length == 0) return INodeFactory.EmptyRound.selector;
        (bytes4 refusal, uint256 total) = judgeCredits(credits);
        if (refusal == 0) refusal = judgeFunds(total, value);
        if (refusal != 0) return refusal;
        if (value != total) allowance -= total;
        etherHeld += value;
        rounds = round;
        for (uint256 i; i < credits.length; ++i) {
            applyCredit(credits[i]);
        }
        return 0;
    }

    function judgeCredits(INodeFactory.CohortCredit[] memory credits) private view returns (bytes4, uint256 total) {
        for (uint256 i; i < credits.length; ++i) {
            uint256 size = sizeOf(credits[i].cohort);
            if (size == 0) return (INodeFactory.EmptyCohort.selector, 0);
            for (uint256 j; j < i; ++j) {
                if (credits[j].cohort == credits[i].cohort) return (INodeFactory.CohortTwiceInRound.selector, 0);
            }
            if (schedules[credits[i].cohort].nextDue > block.timestamp) return (INodeFactory.TurnNotDue.selector, 0);
            total += size * credits[i].amountPerNode;
        }
        return (0, total);
    }

    function judgeFunds(uint256 total, uint256 value) private view returns (bytes4) {
        if (value == total) return 0;
        if (value != 0) return INodeFactory.WrongValue.selector;
        if (total > allowance) return INodeFactory.AllowanceExceeded.selector;
        if (owed() + total > etherHeld) return INodeFactory.SurplusExceeded.selector;
        return 0;
    }

    function applyCredit(INodeFactory.CohortCredit memory paid) private {
        for (uint256 i; i < nodes.length; ++i) {
            if (nodes[i].cohort == paid.cohort) nodes[i].credited += paid.amountPerNode;
        }
        schedules[paid.cohort].perNode += paid.amountPerNode;
        schedules[paid.cohort].nextDue += schedules[paid.cohort].interval;
    }

    // ------------------------------------------------------------------------------------------- moving and spending

    function modelTransfer(address from, address to, uint256 id) internal returns (bytes4) {
        if (to == address(0)) return ERC721.TransferToZeroAddress.selector;
        if (from == to) return 0;
        if (to == self) return INodeFactory.ImpossibleRecipient.selector;
        if (countOf(to) == CAP) return INodeFactory.WalletFull.selector;
        nodes[id - 1].owner = to;
        return 0;
    }

    function modelWithdraw(address caller, uint256 id, address to, uint256 amount) internal returns (bytes4) {
        Node storage node = nodes[id - 1];
        if (node.owner != caller) return INodeFactory.NotNodeOwner.selector;
        if (isImpossible(to)) return INodeFactory.ImpossibleRecipient.selector;
        if (amount == 0) return INodeFactory.ZeroAmount.selector;
        if (amount > node.credited - node.withdrawn) return INodeFactory.BalanceExceeded.selector;
        if (to == refuser) return INodeFactory.SendFailed.selector;
        node.withdrawn += amount;
        etherHeld -= amount;
        return 0;
    }

    function modelWithdrawAll(address caller, uint256[] memory ids, address to)
        internal
        returns (bytes4, uint256 total)
    {
        if (isImpossible(to)) return (INodeFactory.ImpossibleRecipient.selector, 0);
        for (uint256 i; i < ids.length; ++i) {
            if (nodes[ids[i] - 1].owner != caller) return (INodeFactory.NotNodeOwner.selector, 0);
            bool before;
            for (uint256 j; j < i; ++j) {
                before = before || ids[j] == ids[i];
            }
            if (!before) total += nodes[ids[i] - 1].credited - nodes[ids[i] - 1].withdrawn;
        }
        if (total == 0) return (INodeFactory.ZeroAmount.selector, 0);
        if (to == refuser) return (INodeFactory.SendFailed.selector, 0);
        for (uint256 i; i < ids.length; ++i) {
            nodes[ids[i] - 1].withdrawn = nodes[ids[i] - 1].credited;
        }
        etherHeld -= total;
        return (0, total);
    }

    function modelSweep(address to, uint256 amount) internal returns (bytes4) {
        if (isImpossible(to)) return INodeFactory.ImpossibleRecipient.selector;
        if (amount == 0) return INodeFactory.ZeroAmount.selector;
        if (owed() + amount > etherHeld) return INodeFactory.SurplusExceeded.selector;
        if (to == refuser) return INodeFactory.SendFailed.selector;
        etherHeld -= amount;
        return 0;
    }
}
