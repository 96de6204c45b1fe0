// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @notice Owns which of several errors of a call is told, as "Order of checks" of docs/CONTRACT.md has it: each test begins with
/// a call that is wrong in every way, and mends one thing after the other.
contract OrderingTest is FactoryTest {
    address private constant STRANGER = address(0xC7);
    bytes32 private constant NO_BLOCK = bytes32(uint256(1));

    function told(bytes4 reason, address caller, bytes memory call) private {
        vm.prank(caller);
        (bool ok, bytes memory said) = address(factory).call(call);
        vm.assertTrue(!ok, "refused");
        vm.assertEq(bytes32(bytes4(said)), bytes32(reason), "the first that applies");
    }

    function pauseIt(bool paused) private {
        vm.prank(OWNER);
        if (paused) factory.pause();
        else factory.unpause();
    }

    function test_a_withdrawal() public {
        uint256 id = mint(ALICE, DAILY);
        address itself = address(factory);
        told(INodeFactory.NotNodeOwner.selector, BOB, abi.encodeCall(INodeFactory.withdraw, (id, itself, 0)));
        told(INodeFactory.ImpossibleRecipient.selector, ALICE, abi.encodeCall(INodeFactory.withdraw, (id, itself, 0)));
        told(INodeFactory.ZeroAmount.selector, ALICE, abi.encodeCall(INodeFactory.withdraw, (id, ALICE, 0)));
        told(INodeFactory.BalanceExceeded.selector, ALICE, abi.encodeCall(INodeFactory.withdraw, (id, ALICE, 1)));
    }

    function test_a_withdrawal_of_all() public {
        uint256[] memory list = ids(mint(ALICE, DAILY), mint(ALICE, DAILY));
        told(
            INodeFactory.ImpossibleRecipient.selector, BOB, abi.encodeCall(INodeFactory.withdrawAll, (list, address(0)))
        );
        told(INodeFactory.NotNodeOwner.selector, BOB, abi.encodeCall(INodeFactory.withdrawAll, (list, BOB)));
        told(INodeFactory.ZeroAmount.selector, ALICE, abi.encodeCall(INodeFactory.withdrawAll, (list, BOB)));
    }

    function test_a_sweep() public {
        told(INodeFactory.NotOwner.selector, STRANGER, abi.encodeCall(INodeFactory.sweep, (address(0), 0)));
        told(INodeFactory.ImpossibleRecipient.selector, OWNER, abi.encodeCall(INodeFactory.sweep, (address(0), 0)));
        told(INodeFactory.ZeroAmount.selector, OWNER, abi.encodeCall(INodeFactory.sweep, (BOB, 0)));
        told(INodeFactory.SurplusExceeded.selector, OWNER, abi.encodeCall(INodeFactory.sweep, (BOB, 1)));
    }

    function creditCall(uint256 round, bytes32 guard, uint256 until, INodeFactory.CohortCredit[] memory credits)
        private
        view
        returns (bytes memory)
    {
        return abi.encodeCall(INodeFactory.credit, (round, block.number - 1, guard, until, credits));
    }

    function test_a_round() public {
        INodeFactory.CohortCredit[] memory none = new INodeFactory.CohortCredit[](0);
        uint256 past = block.timestamp - 1;
        pauseIt(true);
        told(INodeFactory.NotDistributor.selector, MINTER, creditCall(9, NO_BLOCK, past, none));
        told(INodeFactory.IsPaused.selector, DISTRIBUTOR, creditCall(9, NO_BLOCK, past, none));
        pauseIt(false);
        told(INodeFactory.Expired.selector, DISTRIBUTOR, creditCall(9, NO_BLOCK, past, none));
        told(INodeFactory.StaleFork.selector, DISTRIBUTOR, creditCall(9, NO_BLOCK, block.timestamp, none));
        told(INodeFactory.WrongRound.selector, DISTRIBUTOR, creditCall(9, 0, block.timestamp, none));
        told(INodeFactory.EmptyRound.selector, DISTRIBUTOR, creditCall(1, 0, block.timestamp, none));
    }

    function test_an_entry_of_a_round() public {
        vm.prank(OWNER);
        factory.setBounds(DISTRIBUTOR, 5, 9);
        INodeFactory.CohortCredit[] memory credits = entry(OTHER, 0, 2_001, type(uint256).max);
        credits[0].firstDue = 1;
        refuseCredit(INodeFactory.TooManyTurns.selector, credits, 0);
        credits[0].paid = 0;
        refuseCredit(INodeFactory.EmptyCohort.selector, credits, 0);
        mint(ALICE, OTHER);
        refuseCredit(INodeFactory.WrongTurn.selector, credits, 0);
        credits[0].firstDue = FIRST_DUE;
        refuseCredit(INodeFactory.NoTurns.selector, credits, 0);
        credits[0].paid = 1;
        refuseCredit(INodeFactory.TurnNotDue.selector, credits, 0);
        vm.warp(FIRST_DUE);
        refuseCredit(INodeFactory.AmountOutOfBounds.selector, credits, 0);
        credits[0].amountPerNode = 6 gwei;
        refuseCredit(INodeFactory.WrongValue.selector, credits, 1);
        refuseCredit(INodeFactory.AllowanceExceeded.selector, credits, 0);
        allow(6 gwei);
        refuseCredit(INodeFactory.SurplusExceeded.selector, credits, 0);
    }

    function test_a_second_entry_of_a_cohort() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        INodeFactory.CohortCredit[] memory credits = turns(DAILY, 0, DAILY, 0);
        credits[1].firstDue = 1;
        refuseCredit(INodeFactory.CohortTwiceInRound.selector, credits, 0);
    }

    function test_a_skip_of_turns_that_are_owed_is_told_after_what_it_pays() public {
        vm.prank(OWNER);
        factory.setBounds(DISTRIBUTOR, 5, 9);
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE + INTERVAL);
        refuseCredit(INodeFactory.AmountOutOfBounds.selector, entry(DAILY, 1, 1, 0), 1);
        refuseCredit(INodeFactory.TurnOwed.selector, entry(DAILY, 1, 1, 6 gwei), 1);
    }

    function mintCall(bytes32 guard, uint256 until, uint256 count) private view returns (bytes memory) {
        INodeFactory.Order[] memory orders = new INodeFactory.Order[](count);
        return abi.encodeCall(INodeFactory.mint, (orders, block.number - 1, guard, until));
    }

    function test_a_mint() public {
        skipTo(type(uint32).max);
        uint256 past = block.timestamp - 1;
        pauseIt(true);
        told(INodeFactory.NotMinter.selector, DISTRIBUTOR, mintCall(NO_BLOCK, past, 2));
        told(INodeFactory.IsPaused.selector, MINTER, mintCall(NO_BLOCK, past, 2));
        pauseIt(false);
        told(INodeFactory.Expired.selector, MINTER, mintCall(NO_BLOCK, past, 2));
        told(INodeFactory.StaleFork.selector, MINTER, mintCall(NO_BLOCK, block.timestamp, 2));
        told(INodeFactory.NodeIdsExhausted.selector, MINTER, mintCall(0, block.timestamp, 2));
    }

    function openCall(uint256 first, uint256 count, uint256 until) private pure returns (bytes memory) {
        INodeFactory.CohortOpening[] memory openings = new INodeFactory.CohortOpening[](count);
        return abi.encodeCall(INodeFactory.openCohorts, (first, openings, until));
    }

    function test_an_opening() public {
        vm.prank(OWNER);
        factory.setMinter(MINTER, MINTER, 0, 1);
        skipToCohort(type(uint16).max - 1);
        uint256 past = block.timestamp - 1;
        pauseIt(true);
        told(INodeFactory.NotMinter.selector, DISTRIBUTOR, openCall(1, 3, past));
        told(INodeFactory.IsPaused.selector, MINTER, openCall(1, 3, past));
        pauseIt(false);
        told(INodeFactory.Expired.selector, MINTER, openCall(1, 3, past));
        told(INodeFactory.WrongCohort.selector, MINTER, openCall(1, 3, block.timestamp));
        uint256 next = type(uint16).max - 1;
        told(INodeFactory.CohortNumbersExhausted.selector, MINTER, openCall(next, 3, block.timestamp));
        told(INodeFactory.CohortBudgetExceeded.selector, MINTER, openCall(next, 2, block.timestamp));
        told(INodeFactory.ScheduleOutOfRange.selector, MINTER, openCall(next, 1, block.timestamp));
    }

    function test_an_interval() public {
        told(INodeFactory.NotOwner.selector, STRANGER, abi.encodeCall(INodeFactory.setInterval, (9, 0)));
        told(INodeFactory.CohortNotOpen.selector, OWNER, abi.encodeCall(INodeFactory.setInterval, (9, 0)));
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE + 2 * INTERVAL);
        told(INodeFactory.ScheduleOutOfRange.selector, OWNER, abi.encodeCall(INodeFactory.setInterval, (DAILY, 0)));
        told(INodeFactory.TurnsOverdue.selector, OWNER, abi.encodeCall(INodeFactory.setInterval, (DAILY, INTERVAL)));
    }

    function test_keys_and_what_they_may_do() public {
        uint256 max = type(uint256).max;
        bytes[5] memory wrongInAll = [
            abi.encodeCall(INodeFactory.setMinter, (BOB, BOB, max, max)),
            abi.encodeCall(INodeFactory.refillMinter, (BOB, max, max, max, max)),
            abi.encodeCall(INodeFactory.setDistributor, (BOB, BOB, max, max)),
            abi.encodeCall(INodeFactory.setBounds, (BOB, max, max)),
            abi.encodeCall(INodeFactory.setSwapsAllowance, (BOB, 2, 1))
        ];
        for (uint256 i; i < wrongInAll.length; ++i) {
            told(INodeFactory.NotOwner.selector, STRANGER, wrongInAll[i]);
            told(INodeFactory.WrongKey.selector, OWNER, wrongInAll[i]);
        }
        told(INodeFactory.NotOwner.selector, STRANGER, abi.encodeCall(INodeFactory.capTier, (1 << 16, max)));
    }

    function test_a_window() public {
        told(INodeFactory.NotOwner.selector, STRANGER, abi.encodeCall(INodeFactory.addNotOwed, (2, 2, 1)));
        told(INodeFactory.WrongWindow.selector, OWNER, abi.encodeCall(INodeFactory.addNotOwed, (2, 2, 1)));
        told(INodeFactory.WindowOutOfRange.selector, OWNER, abi.encodeCall(INodeFactory.addNotOwed, (1, 2, 1)));
        told(INodeFactory.NotOwner.selector, STRANGER, abi.encodeCall(INodeFactory.endNotOwed, (0, NO_END)));
        told(INodeFactory.WrongWindow.selector, OWNER, abi.encodeCall(INodeFactory.endNotOwed, (0, NO_END)));
    }

    function refusedAs(bytes4 reason, INodeFactory.Setup memory setup) private {
        vm.expectRevert(reason);
        this.construct(setup);
    }

    function construct(INodeFactory.Setup memory setup) external {
        deploy(setup);
    }

    function test_a_construction() public {
        INodeFactory.Setup memory setup = setupOf(address(0), 0);
        (setup.nodes, setup.floorGwei, setup.ceilingGwei) = (1 << 32, 2, 1);
        (setup.leastInterval, setup.expulsionPeriod) = (0, 8 days);
        refusedAs(INodeFactory.CapOutOfRange.selector, setup);
        setup.maxPerWallet = 1;
        refusedAs(INodeFactory.ZeroOwner.selector, setup);
        setup.owner = OWNER;
        refusedAs(INodeFactory.BudgetOutOfRange.selector, setup);
        setup.nodes = 0;
        refusedAs(INodeFactory.BoundsOutOfRange.selector, setup);
        setup.floorGwei = 1;
        refusedAs(INodeFactory.ScheduleOutOfRange.selector, setup);
        setup.leastInterval = type(uint32).max;
        refusedAs(INodeFactory.ExpulsionPeriodOutOfRange.selector, setup);
        setup.expulsionPeriod = 7 days;
        deploy(setup);
    }
}
