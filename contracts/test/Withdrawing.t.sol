// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC721} from "solady/tokens/ERC721.sol";
import {INodeFactory} from "../src/INodeFactory.sol";
import {Factory, FactoryTest} from "./FactoryTest.sol";

/// @dev Refuses ether, with more return data than anyone should copy.
contract Refuser {
    receive() external payable {
        assembly {
            revert(0, 0x40000)
        }
    }
}

/// @dev Takes ether, and returns far more than anyone should copy.
contract Talker {
    receive() external payable {
        assembly {
            return(0, 0x40000)
        }
    }
}

/// @dev Takes its ether and comes back for more, by both ways, in the middle of its own withdrawal.
contract Reentrant {
    Factory private immutable factory;
    uint256[] private ids;
    uint256 public attempts;
    uint256 public succeeded;

    constructor(Factory factory_) {
        factory = factory_;
    }

    function attack(uint256[] calldata ids_, uint256 amount) external {
        ids = ids_;
        factory.withdraw(ids[0], address(this), amount);
    }

    function attackAll(uint256[] calldata ids_) external {
        ids = ids_;
        factory.withdrawAll(ids_, address(this));
    }

    receive() external payable {
        if (++attempts > 4) return;
        try factory.withdraw(ids[0], address(this), msg.value) {
            ++succeeded;
        } catch {}
        try factory.withdrawAll(ids, address(this)) {
            ++succeeded;
        } catch {}
    }
}

/// @dev Pushes ether to a contract that did not ask for it.
contract Forcer {
    constructor(address payable target) payable {
        selfdestruct(target);
    }
}

/// @notice Owns the behaviour of withdrawals: who may, how much, to whom, and what a hostile recipient can do.
contract WithdrawingTest is FactoryTest {
    event Withdrawn(uint256 indexed nodeId, address indexed owner, address to, uint256 amount, uint256 withdrawnTotal);

    address internal constant VAULT = address(0xC1);

    function setUp() public override {
        super.setUp();
        mint(ALICE, DAILY);
        mint(ALICE, DAILY);
        mint(BOB, DAILY);
        creditTurn(DAILY, 3 ether);
    }

    function refuse(bytes4 reason, address caller, uint256 id, address to, uint256 amount) internal {
        vm.expectRevert(reason);
        vm.prank(caller);
        factory.withdraw(id, to, amount);
    }

    function refuseAll(bytes4 reason, address caller, uint256[] memory list, address to) internal {
        vm.expectRevert(reason);
        vm.prank(caller);
        factory.withdrawAll(list, to);
    }

    function test_an_owner_withdraws_part_by_part_to_any_address() public {
        vm.expectEmit(true, true, true, true, address(factory));
        emit Withdrawn(1, ALICE, VAULT, 1 ether, 1 ether);
        vm.prank(ALICE);
        factory.withdraw(1, VAULT, 1 ether);
        vm.expectEmit(true, true, true, true, address(factory));
        emit Withdrawn(1, ALICE, ALICE, 2 ether, 3 ether);
        vm.prank(ALICE);
        factory.withdraw(1, ALICE, 2 ether);

        (, uint256 balance, uint256 credited, uint256 withdrawn,) = factory.nodeInfo(1);
        vm.assertEq(balance, 0, "balance");
        vm.assertEq(credited, 3 ether, "credited");
        vm.assertEq(withdrawn, 3 ether, "withdrawn");
        vm.assertEq(VAULT.balance, 1 ether, "vault");
        vm.assertEq(ALICE.balance, 2 ether, "alice");
        vm.assertEq(factory.outstanding(), 6 ether, "outstanding");
        vm.assertEq(factory.withdrawnTotal(), 3 ether, "withdrawn in all");
        vm.assertEq(address(factory).balance, 6 ether, "ether");
        vm.assertEq(balanceOfNode(2), 3 ether, "her other node");
    }

    function test_more_than_the_balance_or_nothing_is_refused() public {
        refuse(INodeFactory.BalanceExceeded.selector, ALICE, 1, ALICE, 3 ether + 1);
        refuse(INodeFactory.BalanceExceeded.selector, ALICE, 1, ALICE, type(uint256).max);
        refuse(INodeFactory.ZeroAmount.selector, ALICE, 1, ALICE, 0);
    }

    function test_any_two_parts_add_up(uint256 first, uint256 second) public {
        first = bound(first, 1, 3 ether - 1);
        second = bound(second, 1, 3 ether - first);
        vm.prank(ALICE);
        factory.withdraw(1, VAULT, first);
        vm.prank(ALICE);
        factory.withdraw(1, VAULT, second);
        vm.assertEq(VAULT.balance, first + second, "paid");
        vm.assertEq(balanceOfNode(1), 3 ether - first - second, "left");
        vm.assertEq(factory.outstanding(), 9 ether - first - second, "owed");
        refuse(INodeFactory.BalanceExceeded.selector, ALICE, 1, VAULT, 3 ether - first - second + 1);
    }

    function test_only_the_nodes_owner_withdraws() public {
        refuse(INodeFactory.NotNodeOwner.selector, BOB, 1, BOB, 1);
        refuse(INodeFactory.NotNodeOwner.selector, OWNER, 1, OWNER, 1);
        refuse(ERC721.TokenDoesNotExist.selector, ALICE, 4, ALICE, 1);
        refuse(ERC721.TokenDoesNotExist.selector, ALICE, 0, ALICE, 1);
        refuse(ERC721.TokenDoesNotExist.selector, address(0), 4, ALICE, 1);
        refuse(ERC721.TokenDoesNotExist.selector, ALICE, (1 << 32) + 1, ALICE, 1);
    }

    function test_an_approval_moves_nodes_but_not_their_money() public {
        vm.prank(ALICE);
        factory.approve(BOB, 1);
        vm.prank(ALICE);
        factory.setApprovalForAll(BOB, true);
        refuse(INodeFactory.NotNodeOwner.selector, BOB, 1, BOB, 1);
        refuseAll(INodeFactory.NotNodeOwner.selector, BOB, ids(3, 1), BOB);
    }

    function test_ether_never_goes_to_the_zero_address_or_back_to_the_factory() public {
        refuse(INodeFactory.ImpossibleRecipient.selector, ALICE, 1, address(0), 1);
        refuse(INodeFactory.ImpossibleRecipient.selector, ALICE, 1, address(factory), 1);
        refuseAll(INodeFactory.ImpossibleRecipient.selector, ALICE, ids(1, 2), address(0));
        refuseAll(INodeFactory.ImpossibleRecipient.selector, ALICE, ids(1, 2), address(factory));
    }

    function test_all_balances_leave_in_one_transfer_with_an_event_each() public {
        vm.prank(ALICE);
        factory.withdraw(1, VAULT, 1 ether);
        vm.expectEmit(true, true, true, true, address(factory));
        emit Withdrawn(1, ALICE, VAULT, 2 ether, 3 ether);
        vm.expectEmit(true, true, true, true, address(factory));
        emit Withdrawn(2, ALICE, VAULT, 3 ether, 3 ether);
        vm.prank(ALICE);
        factory.withdrawAll(ids(1, 2), VAULT);
        vm.assertEq(VAULT.balance, 6 ether, "vault");
        vm.assertEq(factory.outstanding(), 3 ether, "bob's");
        vm.assertEq(factory.withdrawnTotal(), 6 ether, "withdrawn in all");
    }

    function test_naming_a_node_twice_pays_it_once() public {
        vm.recordLogs();
        vm.prank(ALICE);
        factory.withdrawAll(ids(1, 1), VAULT);
        vm.assertEq(vm.getRecordedLogs().length, 1, "one event");
        vm.assertEq(VAULT.balance, 3 ether, "once");
    }

    function test_nodes_without_a_balance_are_passed_over_but_a_total_of_zero_reverts() public {
        uint256 fresh = mint(ALICE, DAILY);
        vm.recordLogs();
        vm.prank(ALICE);
        factory.withdrawAll(ids(fresh, 1), VAULT);
        vm.assertEq(vm.getRecordedLogs().length, 1, "no event for nothing");
        refuseAll(INodeFactory.ZeroAmount.selector, ALICE, ids(fresh, 1), VAULT);
        refuseAll(INodeFactory.ZeroAmount.selector, ALICE, new uint256[](0), VAULT);
    }

    function test_one_alien_node_fails_the_whole_call() public {
        refuseAll(INodeFactory.NotNodeOwner.selector, ALICE, ids(1, 3), VAULT);
        refuseAll(ERC721.TokenDoesNotExist.selector, ALICE, ids(1, 4), VAULT);
        vm.assertEq(balanceOfNode(1), 3 ether, "unchanged");
    }

    function test_withdrawing_works_while_paused() public {
        vm.prank(OWNER);
        factory.pause();
        vm.prank(ALICE);
        factory.withdraw(1, VAULT, 1 ether);
        vm.prank(ALICE);
        factory.withdrawAll(ids(1, 2), VAULT);
        vm.assertEq(VAULT.balance, 6 ether, "all of hers");
    }

    function test_a_recipient_that_refuses_reverts_everything_and_harms_no_other_owner() public {
        address refuser = address(new Refuser());
        refuse(INodeFactory.SendFailed.selector, ALICE, 1, refuser, 1 ether);
        refuseAll(INodeFactory.SendFailed.selector, ALICE, ids(1, 2), refuser);
        vm.assertEq(balanceOfNode(1), 3 ether, "unchanged");
        vm.assertEq(factory.withdrawnTotal(), 0, "unchanged");
        vm.prank(BOB);
        factory.withdraw(3, BOB, 3 ether);
    }

    /// @dev The talker pays 155,000 gas for its 0x40000 bytes; copying them would cost as much again.
    function test_what_a_recipient_returns_is_never_copied() public {
        address talker = address(new Talker());
        vm.prank(ALICE);
        factory.withdraw{gas: 260_000}(1, talker, 1 ether);
        vm.assertEq(talker.balance, 1 ether, "paid");
    }

    function test_neighbours_in_a_slot_of_totals_are_kept_apart(uint256 a, uint256 b, uint256 c) public {
        uint256 most = type(uint80).max;
        vm.warp(block.timestamp + 99 * INTERVAL);
        credit(entry(DAILY, 0, 5, most - 3 ether), 3 * (most - 3 ether));
        (a, b, c) = (bound(a, 1, most), bound(b, 1, most), bound(c, 1, most));
        vm.prank(BOB);
        factory.withdraw(3, VAULT, c);
        vm.prank(ALICE);
        factory.withdraw(2, VAULT, b);
        vm.prank(ALICE);
        factory.withdraw(1, VAULT, a);
        vm.assertEq(balanceOfNode(1), most - a, "1");
        vm.assertEq(balanceOfNode(2), most - b, "2");
        vm.assertEq(balanceOfNode(3), most - c, "3");
        vm.assertEq(factory.outstanding(), 3 * most - a - b - c, "owed");
        vm.assertEq(VAULT.balance, a + b + c, "paid");
    }

    function test_totals_fill_their_80_bits_beside_one_another() public {
        uint256 most = type(uint80).max;
        vm.warp(block.timestamp + 99 * INTERVAL);
        credit(entry(DAILY, 0, 5, most - 3 ether), 3 * (most - 3 ether));
        mint(ALICE, OTHER);
        vm.prank(ALICE);
        factory.withdrawAll(ids(1, 2), VAULT);
        vm.prank(BOB);
        factory.withdraw(3, VAULT, most);
        for (uint256 id = 1; id <= 3; ++id) {
            (, uint256 balance,, uint256 withdrawn,) = factory.nodeInfo(id);
            vm.assertEq(balance, 0, "balance");
            vm.assertEq(withdrawn, most, "withdrawn");
        }
        vm.assertEq(balanceOfNode(4), 0, "the next slot's");
    }

    function test_coming_back_during_a_withdrawal_takes_only_what_is_left() public {
        Reentrant attacker = new Reentrant(factory);
        uint256 first = mint(address(attacker), DAILY);
        mint(address(attacker), DAILY);
        creditTurn(DAILY, 1 ether);
        uint256 owedToOthers = factory.outstanding() - 2 ether;

        attacker.attack(ids(first, first + 1), 0.4 ether);
        vm.assertTrue(attacker.succeeded() > 0, "it did come back");
        vm.assertEq(address(attacker).balance, 2 ether, "its own balances, no more");
        vm.assertEq(factory.outstanding(), owedToOthers, "others are owed as before");
        vm.assertEq(address(factory).balance, owedToOthers, "and covered");
    }

    function test_coming_back_during_withdrawAll_finds_nothing() public {
        Reentrant attacker = new Reentrant(factory);
        uint256 first = mint(address(attacker), DAILY);
        mint(address(attacker), DAILY);
        creditTurn(DAILY, 1 ether);
        attacker.attackAll(ids(first, first + 1));
        vm.assertEq(attacker.attempts(), 1, "paid once");
        vm.assertEq(attacker.succeeded(), 0, "in vain");
        vm.assertEq(address(attacker).balance, 2 ether, "its own balances");
    }

    function test_forced_and_plain_ether_is_surplus_and_changes_no_account() public {
        new Forcer{value: 4 ether}(payable(address(factory)));
        vm.deal(CAROL, 1 ether);
        vm.prank(CAROL);
        (bool taken,) = address(factory).call{value: 1 ether}("");
        vm.assertTrue(taken, "plain ether is taken");
        vm.assertEq(factory.outstanding(), 9 ether, "owed as before");
        vm.assertEq(balanceOfNode(1), 3 ether, "as before");
        vm.assertTrue(factory.isSolvent(), "solvent");
        vm.prank(OWNER);
        factory.sweep(VAULT, 5 ether);
        vm.assertEq(VAULT.balance, 5 ether, "swept");
    }

    function test_a_call_that_names_no_function_is_refused() public {
        (bool taken,) = address(factory).call{value: 1}(hex"12345678");
        vm.assertTrue(!taken, "no fallback");
    }

    function test_rounding_loses_nothing_over_many_small_withdrawals() public {
        for (uint256 i; i < 7; ++i) {
            vm.prank(ALICE);
            factory.withdraw(1, VAULT, uint256(3 ether) / 7);
        }
        uint256 rest = balanceOfNode(1);
        vm.assertEq(VAULT.balance + rest, 3 ether, "every wei");
        vm.prank(ALICE);
        factory.withdraw(1, VAULT, rest);
        vm.assertEq(VAULT.balance, 3 ether, "to the last");
    }
}
