// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @notice Owns what a key may be named in every call that names one: nobody (zero), the present key, another role's, and a
/// stranger's. Each table goes through all of them, with somebody in the role and with nobody.
contract NamingTest is FactoryTest {
    address private constant NOBODY = address(0);
    address[5] private NAMES = [NOBODY, MINTER, DISTRIBUTOR, OWNER, CAROL];

    /// @dev A factory in which the roles are held by `minter` and `distributor`.
    function heldBy(address minter, address distributor) private {
        INodeFactory.Setup memory setup = setupOf(OWNER, CAP);
        (setup.minter, setup.distributor) = (minter, distributor);
        (setup.nodes, setup.cohorts, setup.floorGwei, setup.ceilingGwei) = (11, 12, 13, 14);
        factory = deploy(setup);
    }

    /// @dev Whether the owner's call succeeds; if not, it must be that the key was named wrongly.
    function say(bytes memory call, bytes4 otherwise) private returns (bool ok) {
        bytes memory said;
        vm.prank(OWNER);
        (ok, said) = address(factory).call(call);
        if (!ok) vm.assertEq(bytes32(bytes4(said)), bytes32(otherwise), "the reason");
    }

    function assertMinter(address key, uint256 nodes, uint256 cohorts) private view {
        (uint256 nodesLeft, uint256 cohortsLeft) = factory.budget();
        vm.assertEq(factory.minter(), key, "minter");
        vm.assertEq(nodesLeft, nodes, "nodes");
        vm.assertEq(cohortsLeft, cohorts, "cohorts");
    }

    function assertDistributor(address key, uint256 floorGwei, uint256 ceilingGwei) private view {
        (uint256 least, uint256 most) = factory.bounds();
        vm.assertEq(factory.distributor(), key, "distributor");
        vm.assertEq(least, floorGwei, "floor");
        vm.assertEq(most, ceilingGwei, "ceiling");
    }

    /// @dev Every holder, new key and named former: the name counts, unless the role is taken away.
    function test_a_minter_is_set_by_the_name_of_the_present_one_or_to_nobody() public {
        bytes4 wrong = INodeFactory.WrongKey.selector;
        for (uint256 i; i < 2 * NAMES.length * NAMES.length; ++i) {
            address holder = i % 2 == 0 ? MINTER : NOBODY;
            (address next, address former) = (NAMES[i / 2 % NAMES.length], NAMES[i / 2 / NAMES.length]);
            heldBy(holder, DISTRIBUTOR);
            bool ok = say(abi.encodeCall(INodeFactory.setMinter, (next, former, 5, 6)), wrong);
            vm.assertTrue(ok == (next == NOBODY || former == holder), "by its name");
            if (ok) assertMinter(next, 5, 6);
            else assertMinter(holder, 11, 12);
            assertDistributor(DISTRIBUTOR, 13, 14);
        }
    }

    function test_a_distributor_is_set_by_the_name_of_the_present_one_or_to_nobody() public {
        bytes4 wrong = INodeFactory.WrongKey.selector;
        for (uint256 i; i < 2 * NAMES.length * NAMES.length; ++i) {
            address holder = i % 2 == 0 ? DISTRIBUTOR : NOBODY;
            (address next, address former) = (NAMES[i / 2 % NAMES.length], NAMES[i / 2 / NAMES.length]);
            heldBy(MINTER, holder);
            bool ok = say(abi.encodeCall(INodeFactory.setDistributor, (next, former, 5, 6)), wrong);
            vm.assertTrue(ok == (next == NOBODY || former == holder), "by its name");
            if (ok) assertDistributor(next, 5, 6);
            else assertDistributor(holder, 13, 14);
            assertMinter(MINTER, 11, 12);
        }
    }

    function test_limits_are_set_by_the_name_of_the_present_key_and_of_no_other() public {
        bytes4 wrong = INodeFactory.WrongKey.selector;
        for (uint256 i; i < 2 * NAMES.length; ++i) {
            address named = NAMES[i / 2];
            (address minter, address distributor) = i % 2 == 0 ? (MINTER, DISTRIBUTOR) : (NOBODY, NOBODY);
            heldBy(minter, distributor);
            bool ok = say(abi.encodeCall(INodeFactory.refillMinter, (named, 5, 100, 6, 100)), wrong);
            vm.assertTrue(ok == (named == minter), "the minter's name");
            assertMinter(minter, ok ? 16 : 11, ok ? 18 : 12);
            ok = say(abi.encodeCall(INodeFactory.setBounds, (named, 5, 6)), wrong);
            vm.assertTrue(ok == (named == distributor), "the distributor's name");
            assertDistributor(distributor, ok ? 5 : 13, ok ? 6 : 14);
            ok = say(abi.encodeCall(INodeFactory.setSwapsAllowance, (named, 7, 0)), wrong);
            vm.assertTrue(ok == (named == distributor), "the distributor's name");
            vm.assertEq(factory.swapsAllowance(), ok ? 7 : 0, "allowance");
            ok = say(abi.encodeCall(INodeFactory.setSwapsAllowance, (named, 0, 7)), wrong);
            vm.assertTrue(ok == (named == distributor), "also to take it away");
        }
    }

    /// @dev Offered to anyone, the present owner and nobody included, ownership is taken by that account alone.
    function test_ownership_is_taken_by_whom_it_was_offered_to_and_by_no_other() public {
        for (uint256 i; i < NAMES.length * NAMES.length; ++i) {
            (address offered, address taker) = (NAMES[i % NAMES.length], NAMES[i / NAMES.length]);
            if (taker == NOBODY) continue; // Nobody calls from the zero address.
            factory = deploy(OWNER, CAP);
            vm.assertTrue(say(abi.encodeCall(INodeFactory.transferOwnership, (offered)), 0), "offered");
            vm.assertEq(factory.pendingOwner(), offered, "pending");
            vm.prank(taker);
            (bool ok,) = address(factory).call(abi.encodeCall(INodeFactory.acceptOwnership, ()));
            vm.assertTrue(ok == (taker == offered), "by that account");
            vm.assertEq(factory.owner(), ok ? taker : OWNER, "owner");
            vm.assertEq(factory.pendingOwner(), ok ? NOBODY : offered, "pending afterwards");
        }
    }

    /// @dev Only the owner must be somebody. One account may have all roles.
    function test_a_factory_is_made_with_any_keys_but_without_an_owner() public {
        for (uint256 i; i < NAMES.length * NAMES.length; ++i) {
            (address minter, address distributor) = (NAMES[i % NAMES.length], NAMES[i / NAMES.length]);
            heldBy(minter, distributor);
            assertMinter(minter, 11, 12);
            assertDistributor(distributor, 13, 14);
            INodeFactory.Setup memory setup = setupOf(NOBODY, CAP);
            (setup.minter, setup.distributor) = (minter, distributor);
            bytes memory code = bytes.concat(vm.getCode("NodeFactory.sol:NodeFactory"), abi.encode(setup));
            vm.expectRevert(INodeFactory.ZeroOwner.selector);
            create(code);
        }
    }

    /// @dev Ether and nodes go to any account but nobody's and the factory's own: to the present owner, and to itself.
    function test_what_moves_goes_to_any_account_but_nobodys_and_the_factorys() public {
        for (uint256 i; i < 4; ++i) {
            setUp();
            address to = i == 0 ? NOBODY : i == 1 ? address(factory) : i == 2 ? OWNER : ALICE;
            bool may = i > 1;
            uint256 id = mint(ALICE, DAILY);
            creditTurn(DAILY, 3 ether);
            vm.deal(address(factory), 4 ether);
            bytes4 wrong = INodeFactory.ImpossibleRecipient.selector;
            vm.assertTrue(say(abi.encodeCall(INodeFactory.sweep, (to, 1)), wrong) == may, "sweep");
            vm.assertTrue(own(abi.encodeCall(INodeFactory.withdraw, (id, to, 1))) == may, "withdraw");
            vm.assertTrue(own(abi.encodeCall(INodeFactory.withdrawAll, (ids(id, id), to))) == may, "withdrawAll");
            uint256 before = factory.lastId();
            mint(order(to, OTHER, "ref"));
            vm.assertTrue((factory.lastId() == before + 1) == may, "mint");
            vm.assertTrue(own(abi.encodeWithSelector(TRANSFER, ALICE, to, id)) == may, "transfer");
            vm.assertEq(factory.ownerOf(id), may ? to : ALICE, "owner");
        }
    }

    bytes4 private constant TRANSFER = bytes4(keccak256("transferFrom(address,address,uint256)"));

    function own(bytes memory call) private returns (bool ok) {
        vm.prank(ALICE);
        (ok,) = address(factory).call(call);
    }
}
