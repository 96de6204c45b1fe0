// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC721} from "solady/tokens/ERC721.sol";
import {ERC20} from "solady/tokens/ERC20.sol";
import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";
import {Refuser} from "./Withdrawing.t.sol";

/// @notice Owns the behaviour of the contract's owner, of its construction and of its readings.
contract GoverningTest is FactoryTest {
    event Paused();
    event Unpaused();
    event MinterSet(address indexed minter, address indexed former, uint256 nodes, uint256 cohorts);
    event DistributorSet(address indexed distributor, address indexed former, uint256 floorGwei, uint256 ceilingGwei);
    event SwapsAllowanceSet(uint256 allowance, uint256 former);
    event EtherReceived(address indexed sender, uint256 amount);
    event Swept(address indexed to, uint256 amount);
    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    function expectEvent() internal {
        vm.expectEmit(true, true, true, true, address(factory));
    }

    /// @dev The pending owner is a stranger too, until it accepts.
    function refuse(bytes memory call) internal {
        vm.prank(OWNER);
        factory.transferOwnership(CAROL);
        address[5] memory strangers = [MINTER, DISTRIBUTOR, ALICE, CAROL, address(0)];
        for (uint256 i; i < strangers.length; ++i) {
            vm.prank(strangers[i]);
            (bool ok, bytes memory said) = address(factory).call(call);
            vm.assertTrue(!ok && bytes4(said) == INodeFactory.NotOwner.selector, "refused as not the owner's");
        }
    }

    // ------------------------------------------------------------------------------------------------- construction

    function test_a_factory_starts_with_its_roles_and_nothing_else() public {
        INodeFactory.Setup memory setup = setupOf(OWNER, 256);
        (setup.nodes, setup.cohorts, setup.floorGwei, setup.ceilingGwei) = (500, 24, 5, 9);
        factory = deploy(setup);
        vm.assertEq(factory.owner(), OWNER, "owner");
        vm.assertEq(factory.minter(), MINTER, "minter");
        vm.assertEq(factory.distributor(), DISTRIBUTOR, "distributor");
        vm.assertEq(factory.pendingOwner(), address(0), "pendingOwner");
        vm.assertEq(factory.maxPerWallet(), 256, "maxPerWallet");
        vm.assertEq(factory.leastInterval(), LEAST_INTERVAL, "leastInterval");
        vm.assertEq(factory.expulsionPeriod(), EXPULSION_PERIOD, "expulsionPeriod");
        (uint256 nodes, uint256 cohorts) = factory.budget();
        vm.assertEq(nodes, 500, "nodes");
        vm.assertEq(cohorts, 24, "cohorts");
        (uint256 floorGwei, uint256 ceilingGwei) = factory.bounds();
        vm.assertEq(floorGwei, 5, "floor");
        vm.assertEq(ceilingGwei, 9, "ceiling");
        vm.assertEq(factory.swapsAllowance(), 0, "swapsAllowance");
        vm.assertEq(factory.lastId() + factory.round() + factory.outstanding(), 0, "empty");
        vm.assertEq(factory.lastCohort() + factory.notOwedCount(), 0, "empty");
        vm.assertTrue(!factory.paused(), "running");
        vm.assertTrue(factory.isSolvent(), "solvent");
    }

    function test_a_factory_tells_its_roles_when_it_is_made() public {
        bytes memory code =
            bytes.concat(vm.getCode("NodeFactory.sol:NodeFactory"), abi.encode(setupOf(OWNER, CAP)));
        vm.expectEmit();
        emit OwnershipTransferred(address(0), OWNER);
        vm.expectEmit();
        emit MinterSet(MINTER, address(0), NODES, COHORTS);
        vm.expectEmit();
        emit DistributorSet(DISTRIBUTOR, address(0), 0, CEILING_GWEI);
        create(code);
    }

    function refuseConstruction(bytes4 reason, INodeFactory.Setup memory setup) internal {
        bytes memory code = bytes.concat(vm.getCode("NodeFactory.sol:NodeFactory"), abi.encode(setup));
        vm.expectRevert(reason);
        create(code);
    }

    function test_a_factory_has_an_owner_and_a_cap_of_1_to_256() public {
        refuseConstruction(INodeFactory.ZeroOwner.selector, setupOf(address(0), CAP));
        refuseConstruction(INodeFactory.CapOutOfRange.selector, setupOf(OWNER, 0));
        refuseConstruction(INodeFactory.CapOutOfRange.selector, setupOf(OWNER, 257));
    }

    function test_a_factory_starts_with_budgets_bounds_and_a_least_interval_that_fit() public {
        INodeFactory.Setup memory setup = setupOf(OWNER, CAP);
        setup.nodes = 1 << 32;
        refuseConstruction(INodeFactory.BudgetOutOfRange.selector, setup);
        (setup.nodes, setup.cohorts) = (0, 1 << 16);
        refuseConstruction(INodeFactory.BudgetOutOfRange.selector, setup);
        (setup.cohorts, setup.ceilingGwei) = (0, 1 << 48);
        refuseConstruction(INodeFactory.BoundsOutOfRange.selector, setup);
        (setup.ceilingGwei, setup.leastInterval) = (0, 0);
        refuseConstruction(INodeFactory.ScheduleOutOfRange.selector, setup);
        setup.leastInterval = 1 << 32;
        refuseConstruction(INodeFactory.ScheduleOutOfRange.selector, setup);
        (setup.leastInterval, setup.expulsionPeriod) = (1, 7 days + 1);
        refuseConstruction(INodeFactory.ExpulsionPeriodOutOfRange.selector, setup);
        setup.expulsionPeriod = 7 days;
        deploy(setup);
        setup.expulsionPeriod = 0;
        deploy(setup);
    }

    // --------------------------------------------------------------------------------------------------------- roles

    function test_a_stranger_has_none_of_the_owners_powers() public {
        refuse(abi.encodeCall(INodeFactory.setInterval, (DAILY, 60)));
        refuse(abi.encodeCall(INodeFactory.setMinter, (ALICE, MINTER, 1, 1)));
        refuse(abi.encodeCall(INodeFactory.refillMinter, (MINTER, 1, 1, 1, 1)));
        refuse(abi.encodeCall(INodeFactory.setDistributor, (ALICE, DISTRIBUTOR, 1, 1)));
        refuse(abi.encodeCall(INodeFactory.setBounds, (DISTRIBUTOR, 1, 1)));
        refuse(abi.encodeCall(INodeFactory.expel, (new bytes32[](0))));
        refuse(abi.encodeCall(INodeFactory.capTier, (TIER, 1)));
        refuse(abi.encodeCall(INodeFactory.addNotOwed, (1, 0, NO_END)));
        refuse(abi.encodeCall(INodeFactory.endNotOwed, (1, 0)));
        refuse(abi.encodeCall(INodeFactory.setSwapsAllowance, (DISTRIBUTOR, 1, 0)));
        refuse(abi.encodeCall(INodeFactory.sweep, (ALICE, 1)));
        refuse(abi.encodeCall(INodeFactory.pause, ()));
        refuse(abi.encodeCall(INodeFactory.unpause, ()));
        refuse(abi.encodeCall(INodeFactory.transferOwnership, (ALICE)));
    }

    function test_a_new_minter_replaces_the_old_at_once() public {
        mint(ALICE, DAILY);
        expectEvent();
        emit MinterSet(BOB, MINTER, 3, 2);
        vm.prank(OWNER);
        factory.setMinter(BOB, MINTER, 3, 2);
        vm.assertEq(factory.minter(), BOB, "minter");
        vm.assertEq(factory.lastId(), 1, "the field beside it is untouched");
        vm.assertEq(factory.lastCohort(), 2, "nor is this one");
        vm.expectRevert(INodeFactory.NotMinter.selector);
        mint(order(ALICE, DAILY, "ref"));
        vm.prank(BOB);
        factory.mint(order(ALICE, DAILY, "ref"), 0, 0, block.timestamp);
    }

    function test_a_key_is_replaced_only_where_it_is_still_the_one_that_was_named() public {
        vm.prank(OWNER);
        factory.setMinter(BOB, MINTER, 3, 2);
        vm.expectRevert(INodeFactory.WrongKey.selector);
        vm.prank(OWNER);
        factory.setMinter(CAROL, MINTER, 500, 24);
        vm.expectRevert(INodeFactory.WrongKey.selector);
        vm.prank(OWNER);
        factory.setMinter(CAROL, address(0), 500, 24);
        vm.assertEq(factory.minter(), BOB, "minter");
        vm.prank(OWNER);
        factory.setDistributor(BOB, DISTRIBUTOR, 0, 7);
        vm.expectRevert(INodeFactory.WrongKey.selector);
        vm.prank(OWNER);
        factory.setDistributor(CAROL, DISTRIBUTOR, 0, 9);
        vm.expectRevert(INodeFactory.WrongKey.selector);
        vm.prank(OWNER);
        factory.setDistributor(CAROL, address(0), 0, 9);
        vm.assertEq(factory.distributor(), BOB, "distributor");
        (, uint256 ceilingGwei) = factory.bounds();
        vm.assertEq(ceilingGwei, 7, "its bounds");
    }

    function test_a_role_is_taken_from_whoever_has_it() public {
        vm.prank(OWNER);
        factory.setMinter(address(0), ALICE, 0, 0);
        vm.prank(OWNER);
        factory.setDistributor(address(0), ALICE, 0, 0);
        vm.assertEq(factory.minter(), address(0), "no minter");
        vm.assertEq(factory.distributor(), address(0), "no distributor");
        vm.expectRevert(INodeFactory.WrongKey.selector);
        vm.prank(OWNER);
        factory.setMinter(BOB, MINTER, 3, 2);
        vm.expectRevert(INodeFactory.WrongKey.selector);
        vm.prank(OWNER);
        factory.refillMinter(MINTER, 1, 1, 1, 1);
        vm.expectRevert(INodeFactory.WrongKey.selector);
        vm.prank(OWNER);
        factory.setBounds(DISTRIBUTOR, 0, 1);
        vm.expectRevert(INodeFactory.WrongKey.selector);
        vm.prank(OWNER);
        factory.setSwapsAllowance(DISTRIBUTOR, 0, 0);
        vm.prank(OWNER);
        factory.setMinter(BOB, address(0), 3, 2);
        vm.prank(OWNER);
        factory.setDistributor(BOB, address(0), 0, 7);
        vm.assertEq(factory.minter(), BOB, "a minter again");
        vm.assertEq(factory.distributor(), BOB, "a distributor again");
    }

    function test_a_new_distributor_replaces_the_old_at_once() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        expectEvent();
        emit DistributorSet(BOB, DISTRIBUTOR, 0, 7);
        vm.prank(OWNER);
        factory.setDistributor(BOB, DISTRIBUTOR, 0, 7);
        vm.assertEq(factory.distributor(), BOB, "distributor");
        refuseCredit(INodeFactory.NotDistributor.selector, turn(DAILY, 0), 0);
        creditAs(BOB, 1, turn(DAILY, 0), 0);
    }

    function test_ownership_moves_only_when_the_next_owner_accepts() public {
        expectEvent();
        emit OwnershipTransferStarted(OWNER, BOB);
        vm.prank(OWNER);
        factory.transferOwnership(BOB);
        vm.assertEq(factory.owner(), OWNER, "not yet");
        vm.assertEq(factory.pendingOwner(), BOB, "offered");
        vm.expectRevert(INodeFactory.NotPendingOwner.selector);
        vm.prank(ALICE);
        factory.acceptOwnership();
        expectEvent();
        emit OwnershipTransferred(OWNER, BOB);
        vm.prank(BOB);
        factory.acceptOwnership();
        vm.assertEq(factory.owner(), BOB, "now");
        vm.assertEq(factory.pendingOwner(), address(0), "done");
        vm.expectRevert(INodeFactory.NotPendingOwner.selector);
        vm.prank(BOB);
        factory.acceptOwnership();
        vm.expectRevert(INodeFactory.NotOwner.selector);
        vm.prank(OWNER);
        factory.pause();
    }

    function test_an_offer_of_ownership_can_be_taken_back() public {
        vm.prank(OWNER);
        factory.transferOwnership(BOB);
        vm.prank(OWNER);
        factory.transferOwnership(address(0));
        vm.expectRevert(INodeFactory.NotPendingOwner.selector);
        vm.prank(BOB);
        factory.acceptOwnership();
    }

    function test_pausing_says_so_and_keeps_the_books() public {
        mint(ALICE, DAILY);
        creditTurn(DAILY, 3 ether);
        vm.prank(ALICE);
        factory.withdraw(1, ALICE, 1 ether);
        expectEvent();
        emit Paused();
        vm.prank(OWNER);
        factory.pause();
        vm.prank(OWNER);
        factory.pause();
        vm.assertTrue(factory.paused(), "paused");
        vm.prank(ALICE);
        factory.withdraw(1, ALICE, 1 ether);
        vm.assertTrue(factory.paused(), "still paused");
        vm.assertEq(factory.round(), 1, "round");
        vm.assertEq(factory.creditedTotal(), 3 ether, "credited");
        vm.assertEq(factory.withdrawnTotal(), 2 ether, "withdrawn");
        expectEvent();
        emit Unpaused();
        vm.prank(OWNER);
        factory.unpause();
        vm.assertTrue(!factory.paused(), "running");
        vm.assertEq(factory.outstanding(), 1 ether, "outstanding");
    }

    function test_the_allowance_is_what_the_owner_last_said() public {
        expectEvent();
        emit SwapsAllowanceSet(type(uint256).max, 0);
        vm.prank(OWNER);
        factory.setSwapsAllowance(DISTRIBUTOR, type(uint256).max, 0);
        vm.assertEq(factory.swapsAllowance(), type(uint256).max, "any number");
        expectEvent();
        emit SwapsAllowanceSet(0, type(uint256).max);
        vm.prank(OWNER);
        factory.setSwapsAllowance(DISTRIBUTOR, 0, 0);
        vm.assertEq(factory.swapsAllowance(), 0, "none");
    }

    function refuseAllowance(bytes4 reason, address key, uint256 allowance, uint256 former) internal {
        vm.expectRevert(reason);
        vm.prank(OWNER);
        factory.setSwapsAllowance(key, allowance, former);
    }

    function test_an_allowance_rises_only_from_what_it_was_when_it_was_signed() public {
        allow(10 ether);
        refuseAllowance(INodeFactory.WrongAllowance.selector, DISTRIBUTOR, 10 ether + 1, 10 ether - 1);
        refuseAllowance(INodeFactory.WrongAllowance.selector, DISTRIBUTOR, 10 ether + 1, 10 ether + 1);
        refuseAllowance(INodeFactory.WrongAllowance.selector, DISTRIBUTOR, 20 ether, 0);
        vm.prank(OWNER);
        factory.setSwapsAllowance(DISTRIBUTOR, 20 ether, 10 ether);
        vm.assertEq(factory.swapsAllowance(), 20 ether, "raised");
        refuseAllowance(INodeFactory.WrongAllowance.selector, DISTRIBUTOR, 20 ether + 1, 10 ether);
    }

    function test_lowering_an_allowance_is_not_stopped_by_a_round_that_spends_a_wei() public {
        mint(ALICE, DAILY);
        vm.deal(address(factory), 1 ether);
        allow(1 ether);
        vm.warp(FIRST_DUE);
        credit(turn(DAILY, 1), 0);
        vm.prank(OWNER);
        factory.setSwapsAllowance(DISTRIBUTOR, 1 ether - 1, 1 ether);
        vm.assertEq(factory.swapsAllowance(), 1 ether - 1, "as it is, whatever was named");
        vm.prank(OWNER);
        factory.setSwapsAllowance(DISTRIBUTOR, 0, 1 ether);
        vm.assertEq(factory.swapsAllowance(), 0, "lowered");
    }

    function test_an_allowance_is_for_the_key_it_names() public {
        allow(10);
        refuseAllowance(INodeFactory.WrongKey.selector, MINTER, 11, 10);
        refuseAllowance(INodeFactory.WrongKey.selector, MINTER, 0, 10);
        refuseAllowance(INodeFactory.WrongKey.selector, address(0), 0, 10);
        vm.prank(OWNER);
        factory.setDistributor(BOB, DISTRIBUTOR, 0, 1);
        refuseAllowance(INodeFactory.WrongKey.selector, DISTRIBUTOR, 11, 10);
        vm.prank(OWNER);
        factory.setSwapsAllowance(BOB, 11, 10);
        vm.assertEq(factory.swapsAllowance(), 11, "the new key's");
    }

    // ---------------------------------------------------------------------------------------------------- stray ether

    function test_plain_ether_is_told_and_swept_back_and_is_taken_with_what_transfer_gives() public {
        mint(ALICE, DAILY);
        creditTurn(DAILY, 3 ether);
        vm.deal(address(this), 5 ether);
        expectEvent();
        emit EtherReceived(address(this), 2 ether);
        // In a transaction of its own the factory's slots are cold, and a read of one costs almost all that transfer gives.
        vm.cool(address(factory));
        payable(address(factory)).transfer(2 ether);
        vm.assertTrue(payable(address(factory)).send(1 ether), "nor does send need more");
        vm.assertEq(factory.outstanding(), 3 ether, "owed to no node");
        vm.prank(OWNER);
        factory.sweep(CAROL, 3 ether);
        vm.assertEq(CAROL.balance, 3 ether, "sent back");
    }

    function test_a_round_with_its_ether_is_no_stray_ether() public {
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        vm.recordLogs();
        credit(turn(DAILY, 1 ether), 1 ether);
        vm.assertEq(vm.getRecordedLogs().length, 1, "Credited alone");
    }

    /// @dev Any account can make the contract report 0 wei, for its gas. A round may credit 0 if the floor is 0.
    function test_plain_calls_and_rounds_of_0_wei_are_told_like_any_other() public {
        expectEvent();
        emit EtherReceived(address(this), 0);
        (bool ok,) = address(factory).call("");
        vm.assertTrue(ok, "nothing, from anyone");
        mint(ALICE, DAILY);
        vm.warp(FIRST_DUE);
        vm.recordLogs();
        credit(turn(DAILY, 0), 0);
        vm.assertEq(vm.getRecordedLogs().length, 1, "Credited, and no SurplusSpent");
        vm.assertEq(nextDueOf(DAILY), FIRST_DUE + INTERVAL, "a turn that was paid 0 is paid");
    }

    function test_a_call_that_is_none_of_the_contracts_takes_no_ether() public {
        vm.deal(address(this), 1 ether);
        (bool taken,) = address(factory).call{value: 1 ether}("abc");
        vm.assertTrue(!taken, "three bytes");
        (taken,) = address(factory).call{value: 1 ether}(abi.encodeWithSignature("deposit()"));
        vm.assertTrue(!taken, "an unknown function");
        (taken,) = address(factory).call{value: 1 ether}(abi.encodeCall(INodeFactory.declineGifts, (true)));
        vm.assertTrue(!taken, "a function that takes none");
        vm.assertEq(address(factory).balance, 0, "nothing came in");
    }

    // --------------------------------------------------------------------------------------------------------- sweep

    function refuseSweep(bytes4 reason, address to, uint256 amount) internal {
        vm.expectRevert(reason);
        vm.prank(OWNER);
        factory.sweep(to, amount);
    }

    function test_the_owner_sweeps_the_surplus_and_not_a_wei_more() public {
        mint(ALICE, DAILY);
        creditTurn(DAILY, 3 ether);
        refuseSweep(INodeFactory.SurplusExceeded.selector, OWNER, 1);
        vm.deal(address(factory), 5 ether);
        refuseSweep(INodeFactory.SurplusExceeded.selector, OWNER, 2 ether + 1);
        expectEvent();
        emit Swept(CAROL, 2 ether);
        vm.prank(OWNER);
        factory.sweep(CAROL, 2 ether);
        vm.assertEq(CAROL.balance, 2 ether, "swept");
        vm.assertTrue(factory.isSolvent(), "solvent");
        vm.prank(ALICE);
        factory.withdraw(1, ALICE, 3 ether);
    }

    function test_a_sweep_goes_somewhere_and_moves_something() public {
        vm.deal(address(factory), 5 ether);
        refuseSweep(INodeFactory.ImpossibleRecipient.selector, address(0), 1);
        refuseSweep(INodeFactory.ImpossibleRecipient.selector, address(factory), 1);
        refuseSweep(INodeFactory.ZeroAmount.selector, OWNER, 0);
        refuseSweep(INodeFactory.SendFailed.selector, address(new Refuser()), 1);
    }

    function test_an_insolvent_factory_says_so_and_has_no_surplus() public {
        mint(ALICE, DAILY);
        creditTurn(DAILY, 3 ether);
        vm.deal(address(factory), 3 ether - 1);
        vm.assertTrue(!factory.isSolvent(), "a wei short");
        refuseSweep(INodeFactory.SurplusExceeded.selector, OWNER, 1);
        vm.deal(address(factory), 3 ether);
        vm.assertTrue(factory.isSolvent(), "exactly covered");
    }

    // ------------------------------------------------------------------------------------------------------ readings

    function test_an_id_that_was_never_minted_is_a_clean_error() public {
        mint(ALICE, DAILY);
        uint256[3] memory unknown = [uint256(0), 2, type(uint256).max];
        for (uint256 i; i < unknown.length; ++i) {
            vm.expectRevert(ERC721.TokenDoesNotExist.selector);
            factory.nodeInfo(unknown[i]);
            vm.expectRevert(ERC721.TokenDoesNotExist.selector);
            factory.ownerOf(unknown[i]);
            vm.expectRevert(ERC721.TokenDoesNotExist.selector);
            factory.tokenURI(unknown[i]);
        }
    }

    function assertRange(uint256 firstId, uint256 count, uint256 expectedFirst, uint256 expectedCount) internal view {
        INodeFactory.NodeView[] memory nodes = factory.nodesInfo(firstId, count);
        vm.assertEq(nodes.length, expectedCount, "count");
        for (uint256 i; i < nodes.length; ++i) {
            vm.assertEq(nodes[i].id, expectedFirst + i, "id");
            (address owner, uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohort) =
                factory.nodeInfo(nodes[i].id);
            vm.assertEq(nodes[i].owner, owner, "owner");
            vm.assertEq(nodes[i].balance, balance, "balance");
            vm.assertEq(nodes[i].credited, credited, "credited");
            vm.assertEq(nodes[i].withdrawn, withdrawn, "withdrawn");
            vm.assertEq(nodes[i].cohort, cohort, "cohort");
        }
    }

    function test_a_range_of_nodes_is_read_as_far_as_there_are_any() public {
        assertRange(1, 10, 1, 0);
        mint(ALICE, DAILY);
        mint(BOB, OTHER);
        mint(ALICE, DAILY);
        creditTurn(DAILY, 3 ether);
        vm.prank(ALICE);
        factory.withdraw(3, ALICE, 1 ether);
        assertRange(1, 3, 1, 3);
        assertRange(2, 1, 2, 1);
        assertRange(2, 10, 2, 2);
        assertRange(3, type(uint256).max, 3, 1);
        assertRange(4, 10, 4, 0);
        assertRange(type(uint256).max, type(uint256).max, 1, 0);
        assertRange(1, 0, 1, 0);
        assertRange(0, 2, 1, 1);
        assertRange(0, 0, 1, 0);
    }

    function test_the_demo_token_gives_its_whole_supply_to_the_deployer() public {
        ERC20 token = ERC20(create(vm.getCode("DemoToken.sol:DemoToken")));
        vm.assertEq(token.symbol(), "DEMO", "symbol");
        vm.assertEq(token.name(), "Demo Token", "name");
        vm.assertEq(token.decimals(), 18, "decimals");
        vm.assertEq(token.balanceOf(address(this)), token.totalSupply(), "all of it");
        vm.assertEq(token.totalSupply(), 1_000_000 ether, "supply");
    }
}
