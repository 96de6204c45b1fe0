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
        address approved;
        uint256 cohort;
        bytes32 ref;
        uint256 mintedAt;
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

    struct Window {
        uint256 from;
        uint256 until;
    }

    uint256 internal constant CAP = 18;
    uint256 internal constant LEAST_INTERVAL = 40;
    uint256 internal constant EXPULSION_PERIOD = 500;
    /// @dev Counters begin so near their ends that runs reach them.
    uint256 internal constant FORMER_NODES = type(uint32).max - 80;
    uint256 internal constant FORMER_COHORTS = type(uint16).max - 7;
    uint256 internal constant FORMER_WEI = type(uint96).max - (1 << 83);

    Node[] internal nodes;
    Window[] internal windows;
    mapping(uint256 cohort => Schedule) internal schedules;
    /// @dev A tier's most, where it was capped.
    mapping(uint256 tier => uint256) internal mosts;
    mapping(uint256 tier => bool) internal isCapped;
    mapping(address owner => mapping(address operator => bool)) internal operators;
    mapping(address wallet => bool) internal declines;
    uint256 internal rounds;
    uint256 internal cohorts;
    bool internal isPaused;
    uint256 internal allowance;
    uint256 internal etherHeld;
    address internal self;
    address internal refuser;

    address internal owner;
    address internal pendingOwner;
    address internal minter;
    address internal distributor;
    uint256 internal nodesLeft;
    uint256 internal cohortsLeft;
    uint256 internal floorGwei;
    uint256 internal ceilingGwei;

    // ----------------------------------------------------------------------------------------------------- counting

    function nodeOf(uint256 id) internal view returns (Node storage) {
        return nodes[id - FORMER_NODES - 1];
    }

    function sizeOf(uint256 cohort) internal view returns (uint256 size) {
        for (uint256 i; i < nodes.length; ++i) {
            if (nodes[i].cohort == cohort && cohort != 0) ++size;
        }
    }

    function supplyOf(uint256 tier) internal view returns (uint256 minted) {
        for (uint256 i; i < nodes.length; ++i) {
            if (nodes[i].cohort != 0 && schedules[nodes[i].cohort].tier == tier) ++minted;
        }
    }

    function mostOf(uint256 tier) internal view returns (uint256) {
        return isCapped[tier] ? mosts[tier] : type(uint32).max;
    }

    function countOf(address wallet) internal view returns (uint256 count) {
        for (uint256 i; i < nodes.length; ++i) {
            if (nodes[i].owner == wallet) ++count;
        }
    }

    /// @dev 0 for a ref that was never used.
    function idOf(bytes32 ref) internal view returns (uint256) {
        for (uint256 i; i < nodes.length; ++i) {
            if (nodes[i].ref == ref) return FORMER_NODES + i + 1;
        }
        return 0;
    }

    function owed() internal view returns (uint256 sum) {
        for (uint256 i; i < nodes.length; ++i) {
            sum += nodes[i].credited - nodes[i].withdrawn;
        }
    }

    function creditedInAll() internal view returns (uint256 sum) {
        for (uint256 i; i < nodes.length; ++i) {
            sum += nodes[i].credited;
        }
    }

    function isImpossible(address to) internal view returns (bool) {
        return to == address(0) || to == self;
    }

    // ------------------------------------------------------------------------------------------------------- minting

    /// @dev The outcome of an order: a node, one of the reasons 1 to 5, or a used ref, silent or reported.
    uint256 internal constant MINTED = 0;
    uint256 internal constant SILENT = 6;
    uint256 internal constant TAKEN = 7;

    function modelMint(INodeFactory.Order memory order) internal returns (uint256) {
        uint256 taken = idOf(order.ref);
        if (taken != 0) return nodeOf(taken).owner == order.to ? SILENT : TAKEN;
        if (isImpossible(order.to)) return 3;
        if (countOf(order.to) == CAP) return 1;
        Schedule storage schedule = schedules[order.cohort];
        if (!schedule.open) return 2;
        bool due = schedule.nextDue <= block.timestamp;
        if (due && sizeOf(order.cohort) > 0) return 2;
        if (isCapped[schedule.tier] && supplyOf(schedule.tier) >= mosts[schedule.tier]) return 5;
        if (nodesLeft == 0) return 4;
        while (schedule.nextDue <= block.timestamp) {
            schedule.nextDue += schedule.interval;
        }
        --nodesLeft;
        nodes.push(Node(order.to, address(0), order.cohort, order.ref, block.timestamp, 0, 0));
        return MINTED;
    }

    function modelOpen(uint256 first, INodeFactory.CohortOpening[] memory openings) internal returns (bytes4) {
        if (first != cohorts + 1) return INodeFactory.WrongCohort.selector;
        if (cohorts + openings.length > type(uint16).max) return INodeFactory.CohortNumbersExhausted.selector;
        if (openings.length > cohortsLeft) return INodeFactory.CohortBudgetExceeded.selector;
        for (uint256 i; i < openings.length; ++i) {
            if (openings[i].interval < LEAST_INTERVAL) return INodeFactory.ScheduleOutOfRange.selector;
        }
        for (uint256 i; i < openings.length; ++i) {
            schedules[++cohorts] = Schedule(true, openings[i].tier, openings[i].firstDue, openings[i].interval, 0);
            --cohortsLeft;
        }
        return 0;
    }

    function modelSetInterval(uint256 cohort, uint256 interval) internal returns (bytes4) {
        Schedule storage schedule = schedules[cohort];
        if (!schedule.open) return INodeFactory.CohortNotOpen.selector;
        if (interval < LEAST_INTERVAL) return INodeFactory.ScheduleOutOfRange.selector;
        bool behind = schedule.nextDue + schedule.interval <= block.timestamp;
        bool wouldBeBehind = schedule.nextDue + interval <= block.timestamp;
        if (sizeOf(cohort) > 0 && (behind || wouldBeBehind)) return INodeFactory.TurnsOverdue.selector;
        schedule.interval = interval;
        return 0;
    }

    function modelExpel(bytes32[] memory refs) internal {
        for (uint256 i; i < refs.length; ++i) {
            uint256 id = idOf(refs[i]);
            if (id != 0 && (nodeOf(id).credited == 0 || isInWindow(nodeOf(id)))) nodeOf(id).cohort = 0;
        }
    }

    function isInWindow(Node memory node) private view returns (bool) {
        uint256 age = block.timestamp - node.mintedAt;
        return age < EXPULSION_PERIOD && age < 2 * schedules[node.cohort].interval;
    }

    function modelCapTier(uint256 tier, uint256 most) internal returns (bytes4) {
        bool rises = isCapped[tier] && most > mosts[tier];
        if (tier >= 1 << 16 || most >= 1 << 32 || rises || most < supplyOf(tier)) {
            return INodeFactory.SupplyOutOfRange.selector;
        }
        (isCapped[tier], mosts[tier]) = (true, most);
        return 0;
    }

    // ----------------------------------------------------------------------------------------------------- crediting

    function modelCredit(uint256 round, INodeFactory.CohortCredit[] memory credits, uint256 value)
        internal
        returns (bytes4)
    {
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
        uint256 paid;
        for (uint256 i; i < credits.length; ++i) {
            if (credits[i].paid > 2_000 || paid + credits[i].paid > 2_000) {
                return (INodeFactory.TooManyTurns.selector, 0);
            }
            paid += credits[i].paid;
            uint256 size = sizeOf(credits[i].cohort);
            if (size == 0) return (INodeFactory.EmptyCohort.selector, 0);
            for (uint256 j; j < i; ++j) {
                if (credits[j].cohort == credits[i].cohort) return (INodeFactory.CohortTwiceInRound.selector, 0);
            }
            bytes4 refusal = judgeEntry(credits[i], schedules[credits[i].cohort]);
            if (refusal != 0) return (refusal, 0);
            total += size * credits[i].amountPerNode;
        }
        return (0, total);
    }

    function judgeEntry(INodeFactory.CohortCredit memory entry, Schedule memory schedule)
        private
        view
        returns (bytes4)
    {
        if (entry.firstDue != schedule.nextDue) return INodeFactory.WrongTurn.selector;
        if (entry.skipped + entry.paid == 0) return INodeFactory.NoTurns.selector;
        for (uint256 i; i < entry.skipped + entry.paid; ++i) {
            if (schedule.nextDue + i * schedule.interval > block.timestamp) return INodeFactory.TurnNotDue.selector;
        }
        uint256 least;
        uint256 most;
        for (uint256 i; i < entry.paid; ++i) {
            least += floorGwei * 1e9;
            most += ceilingGwei * 1e9;
        }
        if (entry.amountPerNode < least || entry.amountPerNode > most) return INodeFactory.AmountOutOfBounds.selector;
        if (schedule.perNode + entry.amountPerNode >= 1 << 80) return INodeFactory.AmountTooLarge.selector;
        return entry.skipped == 0 || isNotOwed(entry, schedule) ? bytes4(0) : INodeFactory.TurnOwed.selector;
    }

    /// @dev True if one window holds every turn that the entry skips.
    function isNotOwed(INodeFactory.CohortCredit memory entry, Schedule memory schedule) private view returns (bool) {
        for (uint256 i; i < windows.length; ++i) {
            uint256 held;
            for (uint256 turn; turn < entry.skipped; ++turn) {
                uint256 due = schedule.nextDue + turn * schedule.interval;
                if (due >= windows[i].from && due < windows[i].until) ++held;
            }
            if (held == entry.skipped) return true;
        }
        return false;
    }

    function judgeFunds(uint256 total, uint256 value) private view returns (bytes4) {
        if (value != total) {
            if (value != 0) return INodeFactory.WrongValue.selector;
            if (total > allowance) return INodeFactory.AllowanceExceeded.selector;
            if (owed() + total > etherHeld) return INodeFactory.SurplusExceeded.selector;
        }
        bool fits = FORMER_WEI + creditedInAll() + total <= type(uint96).max;
        return fits ? bytes4(0) : INodeFactory.AmountTooLarge.selector;
    }

    function applyCredit(INodeFactory.CohortCredit memory entry) private {
        for (uint256 i; i < nodes.length; ++i) {
            if (nodes[i].cohort == entry.cohort) nodes[i].credited += entry.amountPerNode;
        }
        Schedule storage schedule = schedules[entry.cohort];
        schedule.perNode += entry.amountPerNode;
        schedule.nextDue += (entry.skipped + entry.paid) * schedule.interval;
    }

    // ------------------------------------------------------------------------------------------- moving and spending

    function modelTransfer(address caller, address from, address to, uint256 id) internal returns (bytes4) {
        Node storage node = nodeOf(id);
        if (node.owner != from) return ERC721.TransferFromIncorrectOwner.selector;
        bool may = caller == from || caller == node.approved || operators[from][caller];
        if (!may) return ERC721.NotOwnerNorApproved.selector;
        if (to == address(0)) return ERC721.TransferToZeroAddress.selector;
        if (from != to) {
            if (to == self) return INodeFactory.ImpossibleRecipient.selector;
            if (declines[to] && caller != to) return INodeFactory.GiftDeclined.selector;
            if (countOf(to) == CAP) return INodeFactory.WalletFull.selector;
        }
        node.owner = to;
        node.approved = address(0);
        return 0;
    }

    function modelWithdraw(address caller, uint256 id, address to, uint256 amount) internal returns (bytes4) {
        Node storage node = nodeOf(id);
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
            if (nodeOf(ids[i]).owner != caller) return (INodeFactory.NotNodeOwner.selector, 0);
            bool before;
            for (uint256 j; j < i; ++j) {
                before = before || ids[j] == ids[i];
            }
            if (!before) total += nodeOf(ids[i]).credited - nodeOf(ids[i]).withdrawn;
        }
        if (total == 0) return (INodeFactory.ZeroAmount.selector, 0);
        if (to == refuser) return (INodeFactory.SendFailed.selector, 0);
        for (uint256 i; i < ids.length; ++i) {
            nodeOf(ids[i]).withdrawn = nodeOf(ids[i]).credited;
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
