// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {Factory} from "./FactoryTest.sol";
import {Model} from "./Model.sol";
import {Replay} from "./Replay.sol";

/// @notice Owns what must hold after any sequence of acts: the factory, the model and the replayed logs say the same. It
/// must never act.
abstract contract Comparing is Model {
    Factory public factory;
    Replay public replay;
    /// @dev Ether that left the factory, by recipient, and ether that came in: nothing may appear or vanish.
    mapping(address to => uint256) internal received;
    uint256 internal etherIn;
    uint256 internal stray;
    address[] internal wallets;

    /// @notice Everything, at once.
    function check() external view {
        checkTotals();
        checkConservation();
        checkKeys();
        checkNodes();
        checkCohorts();
        for (uint256 i; i < wallets.length; ++i) {
            checkWallet(wallets[i]);
        }
        vm.assertEq(factory.nodesOf(self).length, 0, "the factory holds none");
    }

    function same(uint256 actual, uint256 modelled, uint256 replayed, string memory what) private pure {
        vm.assertEq(actual, modelled, what);
        vm.assertEq(actual, replayed, what);
    }

    function same(address actual, address modelled, address replayed, string memory what) private pure {
        vm.assertEq(actual, modelled, what);
        vm.assertEq(actual, replayed, what);
    }

    function checkTotals() private view {
        uint256 debt = owed();
        vm.assertEq(factory.outstanding(), debt, "outstanding is the sum of balances");
        vm.assertTrue(debt <= self.balance, "what is owed is covered");
        vm.assertTrue(factory.isSolvent(), "and the factory says so");
        vm.assertEq(self.balance, etherHeld, "ether held");
        uint256 credited = FORMER_WEI + creditedInAll();
        same(factory.creditedTotal(), credited, replay.credited(), "credited in all");
        same(factory.withdrawnTotal(), credited - debt, replay.withdrawn(), "withdrawn in all");
        same(factory.lastId(), FORMER_NODES + nodes.length, replay.lastId(), "nodes");
        same(factory.lastCohort(), cohorts, replay.lastCohort(), "cohorts");
        same(factory.round(), rounds, replay.round(), "rounds");
        same(factory.swapsAllowance(), allowance, replay.allowance(), "allowance");
        vm.assertTrue(factory.paused() == isPaused && isPaused == replay.paused(), "paused");
    }

    function checkConservation() private view {
        uint256 out;
        for (uint256 i; i < wallets.length; ++i) {
            out += received[wallets[i]];
            vm.assertEq(wallets[i].balance, received[wallets[i]], "what a wallet received");
        }
        vm.assertEq(received[refuser], 0, "the refuser got nothing");
        vm.assertEq(self.balance + out, etherIn, "nothing appears or vanishes");
        vm.assertEq(replay.stray(), stray, "plain ether is told");
    }

    function checkKeys() private view {
        same(factory.owner(), owner, replay.owner(), "owner");
        same(factory.pendingOwner(), pendingOwner, replay.pendingOwner(), "pendingOwner");
        same(factory.minter(), minter, replay.minter(), "minter");
        same(factory.distributor(), distributor, replay.distributor(), "distributor");
        (uint256 nodesNow, uint256 cohortsNow) = factory.budget();
        same(nodesNow, nodesLeft, replay.nodesLeft(), "budget of nodes");
        same(cohortsNow, cohortsLeft, replay.cohortsLeft(), "budget of cohorts");
        (uint256 least, uint256 most) = factory.bounds();
        same(least, floorGwei, replay.floorGwei(), "floor");
        same(most, ceilingGwei, replay.ceilingGwei(), "ceiling");
        same(factory.notOwedCount(), windows.length, replay.windowCount(), "windows");
        for (uint256 i = 1; i <= windows.length; ++i) {
            (uint256 from, uint256 until) = factory.notOwed(i);
            (uint256 replayedFrom, uint256 replayedUntil) = replay.windows(i);
            same(from, windows[i - 1].from, replayedFrom, "from");
            same(until, windows[i - 1].until, replayedUntil, "until");
        }
    }

    function checkNodes() private view {
        INodeFactory.NodeView[] memory views = factory.nodesInfo(FORMER_NODES + 1, type(uint256).max);
        vm.assertEq(views.length, nodes.length, "all nodes");
        for (uint256 i; i < views.length; ++i) {
            Node memory node = nodes[i];
            uint256 id = FORMER_NODES + i + 1;
            vm.assertEq(views[i].id, id, "id");
            vm.assertEq(factory.nodeOfRef(node.ref), id, "ref");
            vm.assertEq(replay.nodeOfRef(node.ref), id, "ref by the logs");
            vm.assertEq(factory.getApproved(id), node.approved, "approved");
            (address holder, uint256 cohort, uint256 perNodeAtMint, uint256 kept, uint256 withdrawn,) = replay.nodes(id);
            (,,, uint256 perNode,) = replay.cohorts(cohort);
            same(views[i].owner, node.owner, holder, "owner");
            same(views[i].cohort, node.cohort, cohort, "cohort");
            same(views[i].credited, node.credited, perNode - perNodeAtMint + kept, "credited");
            same(views[i].withdrawn, node.withdrawn, withdrawn, "withdrawn");
            vm.assertEq(views[i].balance, node.credited - node.withdrawn, "balance");
        }
    }

    function checkCohorts() private view {
        for (uint256 cohort = FORMER_COHORTS; cohort <= type(uint16).max; ++cohort) {
            checkCohort(cohort);
        }
        checkCohort(0);
    }

    function checkCohort(uint256 cohort) private view {
        Schedule memory schedule = schedules[cohort];
        (uint256 perNode, uint256 size, uint256 nextDue, uint256 interval, uint256 tier) = factory.cohort(cohort);
        (uint256 tierR, uint256 nextDueR, uint256 intervalR, uint256 perNodeR, uint256 sizeR) = replay.cohorts(cohort);
        same(perNode, schedule.perNode, perNodeR, "perNode");
        same(size, sizeOf(cohort), sizeR, "size");
        same(nextDue, schedule.nextDue, nextDueR, "nextDue");
        same(interval, schedule.interval, intervalR, "interval");
        same(tier, schedule.tier, tierR, "tier");
        (uint256 minted, uint256 most) = factory.tierSupply(tier);
        same(minted, supplyOf(tier), replay.minted(tier), "nodes of the tier");
        same(most, mostOf(tier), type(uint32).max - replay.withheld(tier), "the most of the tier");
        vm.assertTrue(minted <= most, "never more than that");
    }

    /// @dev The list is the wallet's nodes, each once, within the cap.
    function checkWallet(address holder) internal view {
        uint256[] memory ids = factory.nodesOf(holder);
        same(ids.length, countOf(holder), replay.counts(holder), "as many as the model says");
        vm.assertEq(factory.balanceOf(holder), ids.length, "balanceOf");
        vm.assertTrue(factory.declinesGifts(holder) == declines[holder], "gifts");
        vm.assertTrue(replay.declines(holder) == declines[holder], "gifts by the logs");
        vm.assertTrue(ids.length <= CAP, "within the cap");
        for (uint256 i; i < ids.length; ++i) {
            vm.assertEq(nodeOf(ids[i]).owner, holder, "its own");
            for (uint256 j; j < i; ++j) {
                vm.assertTrue(ids[i] != ids[j], "each once");
            }
        }
    }
}
