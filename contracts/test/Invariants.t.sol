// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {Factory} from "./FactoryTest.sol";
import {Handler} from "./Handler.sol";
import {Replay} from "./Replay.sol";
import {Test} from "./Test.sol";
import {Refuser} from "./Withdrawing.t.sol";

/// @dev Takes nodes and ether; paid, it comes back by every way there is, and remembers whether one was open.
contract Intruder {
    Factory private immutable factory;
    uint256 public succeeded;

    constructor(Factory factory_) {
        factory = factory_;
    }

    function onERC721Received(address, address, uint256, bytes calldata) external returns (bytes4) {
        comeBack();
        return this.onERC721Received.selector;
    }

    receive() external payable {
        comeBack();
    }

    function comeBack() private {
        uint256 last = factory.lastId();
        uint256[] memory one = new uint256[](1);
        one[0] = last;
        tryIt(abi.encodeCall(INodeFactory.withdraw, (last, msg.sender, 1)));
        tryIt(abi.encodeCall(INodeFactory.sweep, (address(this), 1)));
        tryIt(abi.encodeCall(INodeFactory.mint, (new INodeFactory.Order[](1), 0, 0, block.timestamp)));
        tryIt(
            abi.encodeCall(
                INodeFactory.credit,
                (factory.round() + 1, 0, 0, block.timestamp, new INodeFactory.CohortCredit[](1))
            )
        );
        tryIt(abi.encodeCall(INodeFactory.expel, (new bytes32[](0))));
        if (!factory.isSolvent()) ++succeeded;
    }

    function tryIt(bytes memory call) private {
        (bool ok,) = address(factory).call(call);
        if (ok) ++succeeded;
    }
}

/// @notice Owns the random acts of the contract's owner, and of the world around it.
contract Governor is Handler {
    address[6] private KEYS =
        [address(0xA0), address(0xA1), address(0xA2), address(0xA3), address(0xA4), address(0xA5)];
    Intruder private immutable intruder;

    constructor(Factory factory_, address refuser_) {
        factory = factory_;
        self = address(factory_);
        refuser = refuser_;
        intruder = new Intruder(factory_);
        wallets = [refuser_, address(0xB1), address(0xB2), address(0xB3), address(intruder)];
        replay = new Replay(FORMER_NODES, FORMER_COHORTS, FORMER_WEI);
        cohorts = FORMER_COHORTS;
        (owner, minter, distributor) = (KEYS[0], KEYS[1], KEYS[2]);
        (nodesLeft, cohortsLeft, ceilingGwei) = (100, 5, type(uint48).max);
    }

    function who(uint256 seed, address holder) internal view override returns (address) {
        return rarely(seed, 70) ? KEYS[dig(seed, 71) % KEYS.length] : holder;
    }

    /// @notice One random act, of the kinds that matter most the most often.
    function step(uint256 seed, uint256 amount) external {
        uint256 kind = dig(seed, 80) % 40;
        if (kind < 8) mint(seed, amount);
        else if (kind < 17) credit(seed, amount);
        else if (kind < 20) withdraw(seed, amount);
        else if (kind < 22) withdrawAll(dig(seed, 81), dig(seed, 82), dig(seed, 83));
        else if (kind < 26) transfer(seed);
        else if (kind < 28) approve(seed);
        else if (kind < 33) pass(amount, dig(seed, 84));
        else if (kind < 34) openCohorts(seed);
        else if (kind < 35) donate(amount, seed % 2 == 0);
        else if (kind < 36) declineGifts(seed, dig(seed, 85) % 3 == 0);
        else governOnce(dig(seed, 86) % 18, seed, amount);
    }

    function governOnce(uint256 kind, uint256 seed, uint256 amount) private {
        if (kind < 2) setInterval(seed, amount);
        else if (kind < 3) expel(seed);
        else if (kind < 8) setMinter(seed);
        else if (kind < 9) setDistributor(seed);
        else if (kind < 11) moveOwnership(seed);
        else if (kind < 12) setNotOwed(seed);
        else if (kind < 13) sweep(seed, amount);
        else if (kind < 15) setPaused(seed);
        else if (kind < 16) setSwapsAllowance(seed, amount);
        else if (kind < 17) capTier(seed);
        else expel(seed);
    }

    /// @dev An act of the owner's: carried out only by the present owner.
    function govern(uint256 seed, bytes memory call) private returns (bool) {
        address caller = who(seed, owner);
        act(caller, 0, call);
        if (caller != owner) settle(INodeFactory.NotOwner.selector);
        return caller == owner;
    }

    function setInterval(uint256 seed, uint256 interval) private {
        uint256 cohort = cohortBy(seed);
        interval = bound(interval, LEAST_INTERVAL - 1, 400);
        if (govern(seed, abi.encodeCall(INodeFactory.setInterval, (cohort, interval)))) {
            settle(modelSetInterval(cohort, interval));
        }
    }

    function expel(uint256 seed) private {
        bytes32[] memory refs = new bytes32[](2);
        for (uint256 i; i < refs.length; ++i) {
            uint256 dice = dig(seed, i);
            refs[i] = bytes32(dice % 40);
            if (dice % 2 == 0 && nodes.length > 0) refs[i] = nodes[(dice >> 8) % nodes.length].ref;
        }
        if (!govern(seed, abi.encodeCall(INodeFactory.expel, (refs)))) return;
        modelExpel(refs);
        settle(0);
    }

    /// @dev Mostly a tier that there is, so little below what it may have that the next nodes fill it.
    function capTier(uint256 seed) private {
        uint256 tier = rarely(seed, 1) ? dig(seed, 2) % (1 << 17) : schedules[cohortBy(dig(seed, 3))].tier;
        uint256 most = rarely(seed, 4) ? mostOf(tier) + 1 : supplyOf(tier) + dig(seed, 5) % 40;
        if (rarely(seed, 6) && most > 0) most = supplyOf(tier) - (supplyOf(tier) == 0 ? 0 : 1);
        if (!govern(seed, abi.encodeCall(INodeFactory.capTier, (tier, most)))) return;
        settle(modelCapTier(tier, most));
    }

    function setMinter(uint256 seed) private {
        address key = KEYS[1 + dig(seed, 1) % 5];
        (uint256 more, uint256 moreCohorts) = (dig(seed, 2) % 60, dig(seed, 3) % 4);
        if (dig(seed, 4) % 8 != 0) return refill(seed, key, more, moreCohorts);
        if (rarely(seed, 8)) key = address(0);
        address former = rarely(seed, 9) ? KEYS[dig(seed, 10) % KEYS.length] : minter;
        if (!govern(seed, abi.encodeCall(INodeFactory.setMinter, (key, former, more, moreCohorts)))) return;
        if (key != address(0) && former != minter) return settle(INodeFactory.WrongKey.selector);
        (minter, nodesLeft, cohortsLeft) = (key, more, moreCohorts);
        settle(0);
    }

    function refill(uint256 seed, address key, uint256 more, uint256 moreCohorts) private {
        if (!rarely(seed, 5)) key = minter;
        (uint256 most, uint256 mostCohorts) = (dig(seed, 6) % 120, dig(seed, 7) % 6);
        bytes memory call = abi.encodeCall(INodeFactory.refillMinter, (key, more, most, moreCohorts, mostCohorts));
        if (!govern(seed, call)) return;
        if (key != minter) return settle(INodeFactory.WrongKey.selector);
        for (; more > 0 && nodesLeft < most; --more) {
            ++nodesLeft;
        }
        for (; moreCohorts > 0 && cohortsLeft < mostCohorts; --moreCohorts) {
            ++cohortsLeft;
        }
        settle(0);
    }

    function setDistributor(uint256 seed) private {
        address key = dig(seed, 1) % 4 == 0 ? KEYS[1 + dig(seed, 2) % 5] : distributor;
        uint256 most = dig(seed, 3) >> (208 + dig(seed, 4) % 49);
        uint256 least = dig(seed, 5) % 2 == 0 ? 0 : dig(seed, 6) >> (208 + dig(seed, 7) % 49);
        // Mostly wide, or no round would fit for long.
        if (dig(seed, 10) % 4 != 0) (least, most) = (0, type(uint48).max);
        bool whole = dig(seed, 8) % 2 == 0;
        if (whole && rarely(seed, 11)) key = address(0);
        address former = rarely(seed, 12) ? KEYS[dig(seed, 13) % KEYS.length] : distributor;
        bytes memory call = whole
            ? abi.encodeCall(INodeFactory.setDistributor, (key, former, least, most))
            : abi.encodeCall(INodeFactory.setBounds, (key, least, most));
        if (!govern(seed, call)) return;
        if (!whole && key != distributor) return settle(INodeFactory.WrongKey.selector);
        if (whole && key != address(0) && former != distributor) return settle(INodeFactory.WrongKey.selector);
        if (least > most) return settle(INodeFactory.BoundsOutOfRange.selector);
        (distributor, floorGwei, ceilingGwei) = (key, least, most);
        settle(0);
    }

    function moveOwnership(uint256 seed) private {
        if (dig(seed, 1) % 2 == 0) {
            address next = KEYS[dig(seed, 2) % KEYS.length];
            if (!govern(seed, abi.encodeCall(INodeFactory.transferOwnership, (next)))) return;
            pendingOwner = next;
            return settle(0);
        }
        address caller = KEYS[dig(seed, 3) % KEYS.length];
        act(caller, 0, abi.encodeCall(INodeFactory.acceptOwnership, ()));
        if (caller != pendingOwner) return settle(INodeFactory.NotPendingOwner.selector);
        (owner, pendingOwner) = (caller, address(0));
        settle(0);
    }

    function setNotOwed(uint256 seed) private {
        uint256 window = windows.length + (rarely(seed, 1) ? 2 : 1);
        uint256 last = windows.length == 0 ? 0 : windows[windows.length - 1].until;
        uint256 until = block.timestamp - 500 + dig(seed, 2) % 1_000;
        if (windows.length > 0 && dig(seed, 3) % 2 == 0) return endNotOwed(seed, window - 1, until);
        uint256 from = dig(seed, 4) % 4 == 0 ? last : block.timestamp - 500 + dig(seed, 5) % 1_000;
        if (dig(seed, 6) % 4 == 0) until = type(uint40).max;
        if (!govern(seed, abi.encodeCall(INodeFactory.addNotOwed, (window, from, until)))) return;
        if (window != windows.length + 1) return settle(INodeFactory.WrongWindow.selector);
        if (from >= until || from < last) return settle(INodeFactory.WindowOutOfRange.selector);
        windows.push(Window(from, until));
        settle(0);
    }

    function endNotOwed(uint256 seed, uint256 window, uint256 until) private {
        if (!govern(seed, abi.encodeCall(INodeFactory.endNotOwed, (window, until)))) return;
        if (window != windows.length) return settle(INodeFactory.WrongWindow.selector);
        Window storage last = windows[window - 1];
        uint256 soonest = block.timestamp > last.from ? block.timestamp : last.from;
        if (until < soonest) until = soonest;
        if (until >= last.until) return settle(INodeFactory.WindowOutOfRange.selector);
        last.until = until;
        settle(0);
    }

    function sweep(uint256 seed, uint256 amount) private {
        uint256 surplus = etherHeld > owed() ? etherHeld - owed() : 0;
        amount = bound(amount, 0, surplus + 1);
        address target = recipient(seed);
        if (!govern(seed, abi.encodeCall(INodeFactory.sweep, (target, amount)))) return;
        bytes4 refusal = modelSweep(target, amount);
        settle(refusal);
        if (refusal == 0) received[target] += amount;
    }

    function setPaused(uint256 seed) private {
        // Mostly running, or little else would happen.
        bool on = seed % 8 == 0;
        if (!govern(seed, on ? abi.encodeCall(INodeFactory.pause, ()) : abi.encodeCall(INodeFactory.unpause, ()))) return;
        isPaused = on;
        settle(0);
    }

    function setSwapsAllowance(uint256 seed, uint256 amount) private {
        amount = rarely(seed, 1) ? type(uint256).max : bound(amount, 0, 1e18);
        address key = rarely(seed, 2) ? KEYS[dig(seed, 3) % KEYS.length] : distributor;
        uint256 former = rarely(seed, 4) ? allowance / 2 : allowance;
        if (!govern(seed, abi.encodeCall(INodeFactory.setSwapsAllowance, (key, amount, former)))) return;
        if (key != distributor) return settle(INodeFactory.WrongKey.selector);
        if (amount > allowance && former != allowance) return settle(INodeFactory.WrongAllowance.selector);
        allowance = amount;
        settle(0);
    }

    function donate(uint256 amount, bool forced) private {
        amount = bound(amount, 0, 1e15);
        etherHeld += amount;
        etherIn += amount;
        if (forced) return vm.deal(self, self.balance + amount);
        stray += amount;
        vm.deal(address(this), amount);
        act(address(this), amount, "");
        settle(0);
    }

    function pass(uint256 time, uint256 blocks) private {
        vm.warp(block.timestamp + bound(time, 0, 300));
        vm.roll(block.number + bound(blocks, 0, 300));
        vm.assertEq(intruder.succeeded(), 0, "no way back in");
    }
}

/// @notice Owns what must hold after any sequence of acts. It must never act itself: the handler does.
/// @dev forge calls the handler at random, and the one function here at intervals and at the end of each run.
contract InvariantsTest is Test {
    Governor private handler;

    function setUp() public {
        vm.warp(1_700_000_000);
        vm.roll(10_000);
        INodeFactory.Setup memory setup = INodeFactory.Setup({
            owner: address(0xA0),
            minter: address(0xA1),
            nodes: 100,
            cohorts: 5,
            distributor: address(0xA2),
            floorGwei: 0,
            ceilingGwei: type(uint48).max,
            maxPerWallet: 18,
            leastInterval: 40,
            expulsionPeriod: 500
        });
        vm.recordLogs();
        address factory = create(bytes.concat(vm.getCode("NodeFactory.sol:NodeFactory"), abi.encode(setup)));
        handler = new Governor(Factory(factory), address(new Refuser()));
        handler.replay().apply_(vm.getRecordedLogs());
        // Counters and books near their ends; what was credited before was withdrawn.
        uint256 former = type(uint96).max - (1 << 83);
        uint256 word = uint256(vm.load(factory, bytes32(uint256(6))));
        word |= (uint256(type(uint32).max - 80) << 160) | (uint256(type(uint16).max - 7) << 240);
        vm.store(factory, bytes32(uint256(6)), bytes32(word));
        vm.store(factory, bytes32(uint256(1)), bytes32(former | (former << 96)));
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    function invariant_the_factory_the_model_and_the_logs_agree_on_everything() public view {
        handler.check();
    }
}
