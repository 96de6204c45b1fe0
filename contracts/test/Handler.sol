// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {Factory} from "./FactoryTest.sol";
import {Model} from "./Model.sol";

/// @notice Owns the random acts: each is done to the factory and to the model, and must end the same way in both, down to
/// the error. It must never filter its inputs so far that a refusal cannot happen.
contract Handler is Model {
    address internal constant OWNER = address(0xA0);
    address internal constant MINTER = address(0xA1);
    address internal constant DISTRIBUTOR = address(0xA2);
    uint256 internal constant COHORTS = 6;
    uint256 internal constant WALLETS = 4;

    Factory public immutable factory;
    /// @dev What left the factory, by recipient, and what came in: nothing may appear or vanish.
    mapping(address to => uint256) private received;
    uint256 private etherIn;

    constructor(Factory factory_, address refuser_) {
        factory = factory_;
        self = address(factory_);
        refuser = refuser_;
        vm.deal(DISTRIBUTOR, type(uint128).max);
    }

    // ---------------------------------------------------------------------------------------------------------- acts

    function openCohort(uint256 cohort, uint256 tier, uint256 firstDue, uint256 interval) external {
        cohort = bound(cohort, 1, COHORTS);
        tier = bound(tier, 0, type(uint16).max);
        firstDue = bound(firstDue, block.timestamp - 1_000, block.timestamp + 1_000);
        interval = bound(interval, 0, 400);
        act(MINTER, 0, abi.encodeCall(INodeFactory.openCohort, (cohort, tier, firstDue, interval)));
        settle(modelOpen(cohort, tier, firstDue, interval));
    }

    function setInterval(uint256 cohort, uint256 interval) external {
        cohort = bound(cohort, 1, COHORTS + 1);
        interval = bound(interval, 0, 400);
        act(OWNER, 0, abi.encodeCall(INodeFactory.setInterval, (cohort, interval)));
        settle(modelSetInterval(cohort, interval));
    }

    function mint(uint256 seed, uint256 count) external {
        INodeFactory.Order[] memory orders = new INodeFactory.Order[](bound(count, 1, 6));
        for (uint256 i; i < orders.length; ++i) {
            uint256 dice = dig(seed, i);
            orders[i].to = recipient(dice);
            orders[i].cohort = 1 + (dice >> 16) % (COHORTS + 1);
            // A third of the refs come from a small pool, so that some are used already.
            orders[i].ref = bytes32((dice >> 32) % 3 == 0 ? (dice >> 64) % 40 : dice);
        }
        act(MINTER, 0, abi.encodeCall(INodeFactory.mint, (orders, 0, 0)));
        if (isPaused) return settle(INodeFactory.IsPaused.selector);
        settle(0);
        for (uint256 i; i < orders.length; ++i) {
            modelMint(orders[i]);
        }
        for (uint256 i; i < orders.length; ++i) {
            vm.assertEq(factory.nodeOfRef(orders[i].ref), idOf(orders[i].ref), "one ref, one node");
        }
    }

    function credit(uint256 seed, uint256 funds) external {
        uint256 round = rounds + (dig(seed, 1) % 16 == 0 ? dig(seed, 2) % 3 : 1);
        INodeFactory.CohortCredit[] memory credits = chooseCredits(seed);
        uint256 total;
        for (uint256 i; i < credits.length; ++i) {
            total += credits[i].amountPerNode * sizeOf(credits[i].cohort);
        }
        funds = bound(funds, 0, 7);
        uint256 value = funds < 5 ? total : funds < 7 ? 0 : total + 1;
        act(DISTRIBUTOR, value, abi.encodeCall(INodeFactory.credit, (round, 0, 0, credits)));
        bytes4 refusal = modelCredit(round, credits, value);
        settle(refusal);
        if (refusal == 0) etherIn += value;
    }

    function transfer(uint256 id, uint256 to) external {
        if (nodes.length == 0) return;
        id = bound(id, 1, nodes.length);
        address from = nodes[id - 1].owner;
        address target = recipient(to);
        act(from, 0, abi.encodeCall(Factory.transferFrom, (from, target, id)));
        settle(modelTransfer(from, target, id));
        checkWallet(from);
        checkWallet(target);
    }

    function withdraw(uint256 id, uint256 caller, uint256 to, uint256 amount) external {
        if (nodes.length == 0) return;
        id = bound(id, 1, nodes.length);
        Node memory node = nodes[id - 1];
        address from = caller % 8 == 0 ? wallet(caller >> 8) : node.owner;
        amount = bound(amount, 0, node.credited - node.withdrawn + 1);
        address target = recipient(to);
        act(from, 0, abi.encodeCall(INodeFactory.withdraw, (id, target, amount)));
        bytes4 refusal = modelWithdraw(from, id, target, amount);
        settle(refusal);
        if (refusal == 0) received[target] += amount;
    }

    function withdrawAll(uint256 caller, uint256 to, uint256 extra) external {
        if (nodes.length == 0) return;
        address from = wallet(caller);
        address target = recipient(to);
        uint256[] memory ids = factory.nodesOf(from);
        // One id in place of another: a duplicate, or somebody else's.
        if (ids.length > 0 && extra % 3 == 0) ids[(extra >> 8) % ids.length] = 1 + (extra >> 16) % nodes.length;
        act(from, 0, abi.encodeCall(INodeFactory.withdrawAll, (ids, target)));
        (bytes4 refusal, uint256 total) = modelWithdrawAll(from, ids, target);
        settle(refusal);
        received[target] += total;
    }

    function sweep(uint256 to, uint256 amount) external {
        uint256 surplus = etherHeld > owed() ? etherHeld - owed() : 0;
        amount = bound(amount, 0, surplus + 1);
        address target = recipient(to);
        act(OWNER, 0, abi.encodeCall(INodeFactory.sweep, (target, amount)));
        bytes4 refusal = modelSweep(target, amount);
        settle(refusal);
        if (refusal == 0) received[target] += amount;
    }

    function setPaused(uint256 dice) external {
        // Mostly running, or little else would happen.
        isPaused = dice % 5 == 0;
        act(OWNER, 0, isPaused ? abi.encodeCall(INodeFactory.pause, ()) : abi.encodeCall(INodeFactory.unpause, ()));
        settle(0);
    }

    function setSwapsAllowance(uint256 amount) external {
        allowance = bound(amount, 0, 1e18);
        act(OWNER, 0, abi.encodeCall(INodeFactory.setSwapsAllowance, (allowance)));
        settle(0);
    }

    function donate(uint256 amount, bool forced) external {
        amount = bound(amount, 0, 1e15);
        etherHeld += amount;
        etherIn += amount;
        if (forced) return vm.deal(self, self.balance + amount);
        vm.deal(address(this), amount);
        (bool taken,) = self.call{value: amount}("");
        vm.assertTrue(taken, "plain ether is taken");
    }

    function pass(uint256 time, uint256 blocks) external {
        vm.warp(block.timestamp + bound(time, 0, 500));
        vm.roll(block.number + bound(blocks, 0, 300));
    }

    // -------------------------------------------------------------------------------------------------- acting, inside

    bool private lastOk;
    bytes4 private lastError;

    function act(address caller, uint256 value, bytes memory call) private {
        vm.prank(caller);
        (bool ok, bytes memory data) = self.call{value: value}(call);
        lastOk = ok;
        lastError = ok ? bytes4(0) : bytes4(data);
    }

    /// @dev Both must have come to the same end.
    function settle(bytes4 refusal) private view {
        vm.assertEq(bytes32(lastError), bytes32(refusal), "the model expects otherwise");
        vm.assertTrue(lastOk == (refusal == 0), "success or not");
    }

    function dig(uint256 seed, uint256 index) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, index)));
    }

    /// @dev One wallet refuses ether.
    function wallet(uint256 dice) private view returns (address) {
        uint256 index = dice % WALLETS;
        return index == 0 ? refuser : address(uint160(0xB000 + index));
    }

    function recipient(uint256 dice) private view returns (address) {
        uint256 special = (dice >> 8) % 32;
        return special == 0 ? address(0) : special == 1 ? self : wallet(dice);
    }

    /// @dev Mostly cohorts that are due; sometimes any, an unopened one, or one twice.
    function chooseCredits(uint256 seed) private view returns (INodeFactory.CohortCredit[] memory credits) {
        bool any = dig(seed, 3) % 8 == 0;
        uint256[] memory chosen = new uint256[](COHORTS + 2);
        uint256 count;
        for (uint256 cohort = 1; cohort <= COHORTS + 1; ++cohort) {
            bool due = sizeOf(cohort) > 0 && schedules[cohort].nextDue <= block.timestamp;
            if (any ? dig(seed, 9 + cohort) % 4 == 0 : due) chosen[count++] = cohort;
        }
        if (count > 0 && dig(seed, 4) % 16 == 0) chosen[count++] = chosen[0];
        credits = new INodeFactory.CohortCredit[](count);
        for (uint256 i; i < count; ++i) {
            credits[i] = INodeFactory.CohortCredit(chosen[i], dig(seed, 99 + i) % 1e15);
        }
    }

    // ------------------------------------------------------------------------------------------------------- comparing

    function checkTotals() external view {
        uint256 debt = owed();
        vm.assertEq(factory.outstanding(), debt, "outstanding is the sum of balances");
        vm.assertTrue(debt <= self.balance, "what is owed is covered");
        vm.assertTrue(factory.isSolvent(), "and the factory says so");
        vm.assertEq(self.balance, etherHeld, "ether held");
        vm.assertEq(factory.lastId(), nodes.length, "nodes");
        vm.assertEq(factory.round(), rounds, "rounds");
        vm.assertEq(factory.swapsAllowance(), allowance, "allowance");
        vm.assertTrue(factory.paused() == isPaused, "paused");
    }

    function checkConservation() external view {
        uint256 out = received[refuser];
        vm.assertEq(out, 0, "the refuser got nothing");
        for (uint256 i = 1; i < WALLETS; ++i) {
            out += received[wallet(i)];
            vm.assertEq(wallet(i).balance, received[wallet(i)], "what a wallet received");
        }
        vm.assertEq(self.balance + out, etherIn, "nothing appears or vanishes");
        uint256 credited;
        for (uint256 i; i < nodes.length; ++i) {
            credited += nodes[i].credited;
        }
        vm.assertEq(factory.creditedTotal(), credited, "credited in all");
        vm.assertEq(factory.withdrawnTotal(), credited - owed(), "withdrawn in all");
    }

    function checkNodes() external view {
        INodeFactory.NodeView[] memory views = factory.nodesInfo(1, type(uint256).max);
        vm.assertEq(views.length, nodes.length, "all nodes");
        for (uint256 i; i < views.length; ++i) {
            Node memory node = nodes[i];
            vm.assertEq(views[i].id, i + 1, "id");
            vm.assertEq(views[i].owner, node.owner, "owner");
            vm.assertEq(views[i].cohort, node.cohort, "cohort");
            vm.assertEq(views[i].credited, node.credited, "credited");
            vm.assertEq(views[i].withdrawn, node.withdrawn, "withdrawn");
            vm.assertEq(views[i].balance, node.credited - node.withdrawn, "balance");
            vm.assertEq(factory.nodeOfRef(node.ref), i + 1, "ref");
        }
    }

    function checkCohorts() external view {
        for (uint256 cohort = 1; cohort <= COHORTS + 1; ++cohort) {
            Schedule memory schedule = schedules[cohort];
            (uint256 perNode, uint256 size, uint256 nextDue, uint256 interval, uint256 tier) = factory.cohort(cohort);
            vm.assertEq(perNode, schedule.perNode, "perNode");
            vm.assertEq(size, sizeOf(cohort), "size");
            vm.assertEq(nextDue, schedule.nextDue, "nextDue");
            vm.assertEq(interval, schedule.interval, "interval");
            vm.assertEq(tier, schedule.tier, "tier");
        }
    }

    function checkWallets() external view {
        for (uint256 i; i < WALLETS; ++i) {
            checkWallet(wallet(i));
        }
        vm.assertEq(factory.nodesOf(self).length, 0, "the factory holds none");
    }

    /// @dev The list is the wallet's nodes, each once, within the cap.
    function checkWallet(address holder) private view {
        uint256[] memory ids = factory.nodesOf(holder);
        vm.assertEq(ids.length, countOf(holder), "as many as the model says");
        vm.assertTrue(ids.length <= CAP, "within the cap");
        for (uint256 i; i < ids.length; ++i) {
            vm.assertEq(nodes[ids[i] - 1].owner, holder, "its own");
            for (uint256 j; j < i; ++j) {
                vm.assertTrue(ids[i] != ids[j], "each once");
            }
        }
    }
}
