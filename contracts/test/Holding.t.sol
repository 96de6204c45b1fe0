// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC721} from "solady/tokens/ERC721.sol";
import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @dev Takes nodes, and remembers what came with the last.
contract Receiver {
    bytes32 public lastData;

    function onERC721Received(address, address, uint256, bytes calldata data) external returns (bytes4) {
        lastData = keccak256(data);
        return this.onERC721Received.selector;
    }
}

/// @notice Owns the behaviour of nodes in wallets: lists, transfers, approvals and the cap.
contract HoldingTest is FactoryTest {
    function transfer(address from, address to, uint256 id) internal {
        vm.prank(from);
        factory.transferFrom(from, to, id);
    }

    function assertList(address wallet, uint256[] memory expected, string memory what) internal view {
        uint256[] memory actual = factory.nodesOf(wallet);
        vm.assertEq(actual.length, expected.length, what);
        for (uint256 i; i < expected.length; ++i) {
            vm.assertEq(actual[i], expected[i], what);
        }
    }

    /// @dev Every id from `first` to `last` but `gone` is in the wallet's list, once.
    function assertAllBut(address wallet, uint256 first, uint256 last, uint256 gone) internal view {
        uint256[] memory actual = factory.nodesOf(wallet);
        vm.assertEq(actual.length, last - first, "one fewer");
        bool[] memory seen = new bool[](last + 1);
        for (uint256 i; i < actual.length; ++i) {
            vm.assertTrue(actual[i] >= first && actual[i] <= last, "its own");
            vm.assertTrue(actual[i] != gone, "not the one that left");
            vm.assertTrue(!seen[actual[i]], "once");
            seen[actual[i]] = true;
        }
    }

    function test_a_wallets_list_grows_in_order_through_all_its_words() public {
        mint(BOB, DAILY);
        mintMany(ALICE, CAP);
        uint256[] memory list = factory.nodesOf(ALICE);
        vm.assertEq(list.length, CAP, "count");
        for (uint256 i; i < CAP; ++i) {
            vm.assertEq(list[i], i + 2, "in order");
        }
    }

    function test_a_wallet_without_nodes_has_an_empty_list() public view {
        vm.assertEq(factory.nodesOf(ALICE).length, 0, "empty");
        vm.assertEq(factory.nodesOf(address(0)).length, 0, "the zero address too");
    }

    function test_a_nodes_balance_goes_with_the_node() public {
        mint(ALICE, DAILY);
        creditTurn(DAILY, 3 ether);
        transfer(ALICE, BOB, 1);
        vm.expectRevert(INodeFactory.NotNodeOwner.selector);
        vm.prank(ALICE);
        factory.withdraw(1, ALICE, 1);
        vm.prank(BOB);
        factory.withdraw(1, BOB, 3 ether);
        (address owner,,,, uint256 cohort) = factory.nodeInfo(1);
        vm.assertEq(owner, BOB, "owner");
        vm.assertEq(cohort, DAILY, "cohort");
        creditTurn(DAILY, 1 ether);
        vm.assertEq(balanceOfNode(1), 1 ether, "and goes on earning");
    }

    function test_any_position_can_leave_the_list(uint256 count, uint256 position) public {
        count = bound(count, 1, CAP);
        position = bound(position, 1, count);
        mintMany(ALICE, count);
        transfer(ALICE, BOB, position);
        assertAllBut(ALICE, 1, count, position);
        uint256[] memory one = new uint256[](1);
        one[0] = position;
        assertList(BOB, one, "bob's");
    }

    function test_every_position_of_a_list_of_256_can_leave_it() public {
        factory = deploy(OWNER, 256);
        open();
        mintMany(ALICE, 256);
        for (uint256 id = 1; id <= 256; ++id) {
            transfer(ALICE, BOB, id);
        }
        vm.assertEq(factory.nodesOf(ALICE).length, 0, "none left");
        uint256[] memory list = factory.nodesOf(BOB);
        for (uint256 i; i < 256; ++i) {
            vm.assertEq(list[i], i + 1, "all arrived");
        }
        for (uint256 id = 255; id > 1; --id) {
            transfer(BOB, ALICE, id);
        }
        assertList(BOB, ids(1, 256), "first and last stay");
        vm.assertEq(factory.nodesOf(ALICE).length, 254, "and the rest came back");
    }

    function test_ids_of_all_sizes_are_found_in_one_list() public {
        mintMany(ALICE, 10);
        skipTo(type(uint32).max - 9);
        mintMany(ALICE, 10);
        transfer(ALICE, BOB, type(uint32).max - 9);
        transfer(ALICE, BOB, type(uint32).max - 5);
        for (uint256 id = 1; id <= 10; ++id) {
            transfer(ALICE, BOB, id);
        }
        vm.assertEq(factory.nodesOf(ALICE).length, 8, "the rest");
        uint256[] memory list = factory.nodesOf(BOB);
        vm.assertEq(list.length, 12, "all arrived");
        vm.assertEq(list[0], type(uint32).max - 9, "in order");
        vm.assertEq(list[11], 10, "in order");
    }

    function test_an_id_that_looks_like_the_lists_count_is_found() public {
        mintMany(BOB, 7);
        mintMany(ALICE, 10);
        transfer(ALICE, CAROL, 9);
        assertAllBut(ALICE, 8, 17, 9);
    }

    function test_a_list_that_shrank_and_grew_again_shows_no_leftovers() public {
        mintMany(ALICE, 10);
        for (uint256 id = 1; id <= 9; ++id) {
            transfer(ALICE, BOB, id);
        }
        uint256[] memory one = new uint256[](1);
        one[0] = 10;
        assertList(ALICE, one, "one left");
        uint256 fresh = mint(ALICE, DAILY);
        assertList(ALICE, ids(10, fresh), "and a new one");
    }

    function test_a_transfer_to_oneself_changes_nothing() public {
        mintMany(ALICE, CAP);
        creditTurn(DAILY, 1 ether);
        uint256[] memory list = factory.nodesOf(ALICE);
        transfer(ALICE, ALICE, 1);
        transfer(ALICE, ALICE, 9);
        transfer(ALICE, ALICE, CAP);
        assertList(ALICE, list, "the same list, at the cap");
        vm.assertEq(balanceOfNode(9), 1 ether, "the same balance");
    }

    function test_the_cap_holds_on_transfers() public {
        mintMany(BOB, CAP);
        uint256 id = mint(ALICE, DAILY);
        vm.expectRevert(INodeFactory.WalletFull.selector);
        transfer(ALICE, BOB, id);
        transfer(BOB, CAROL, 1);
        transfer(ALICE, BOB, id);
        vm.assertEq(factory.balanceOf(BOB), CAP, "full again");
    }

    function test_a_cap_of_one_is_one() public {
        factory = deploy(OWNER, 1);
        open();
        mint(ALICE, DAILY);
        mint(ALICE, DAILY);
        vm.assertEq(factory.balanceOf(ALICE), 1, "one");
        mint(BOB, DAILY);
        vm.expectRevert(INodeFactory.WalletFull.selector);
        transfer(BOB, ALICE, 2);
        transfer(BOB, CAROL, 2);
    }

    function test_a_node_is_not_sent_to_the_factory_or_to_the_zero_address() public {
        mint(ALICE, DAILY);
        vm.expectRevert(INodeFactory.ImpossibleRecipient.selector);
        transfer(ALICE, address(factory), 1);
        vm.expectRevert(ERC721.TransferToZeroAddress.selector);
        transfer(ALICE, address(0), 1);
    }

    function test_nobody_who_may_move_a_node_sends_it_to_the_factory() public {
        mint(ALICE, DAILY);
        vm.prank(ALICE);
        factory.setApprovalForAll(BOB, true);
        vm.prank(ALICE);
        factory.approve(CAROL, 1);
        address[3] memory movers = [ALICE, BOB, CAROL];
        for (uint256 i; i < movers.length; ++i) {
            vm.expectRevert(INodeFactory.ImpossibleRecipient.selector);
            vm.prank(movers[i]);
            factory.transferFrom(ALICE, address(factory), 1);
            vm.expectRevert(INodeFactory.ImpossibleRecipient.selector);
            vm.prank(movers[i]);
            factory.safeTransferFrom(ALICE, address(factory), 1);
        }
        vm.assertEq(factory.ownerOf(1), ALICE, "hers as before");
    }

    function test_the_zero_address_has_no_balance_to_ask_for() public {
        vm.expectRevert(ERC721.BalanceQueryForZeroAddress.selector);
        factory.balanceOf(address(0));
    }

    function test_only_the_owner_or_someone_approved_moves_a_node() public {
        mint(ALICE, DAILY);
        mint(ALICE, DAILY);
        vm.expectRevert(ERC721.NotOwnerNorApproved.selector);
        vm.prank(BOB);
        factory.transferFrom(ALICE, BOB, 1);
        vm.prank(ALICE);
        factory.approve(BOB, 1);
        vm.prank(BOB);
        factory.transferFrom(ALICE, CAROL, 1);
        uint256[] memory one = new uint256[](1);
        one[0] = 2;
        assertList(ALICE, one, "alice's");
        one[0] = 1;
        assertList(CAROL, one, "carol's");
        vm.expectRevert(ERC721.TransferFromIncorrectOwner.selector);
        vm.prank(ALICE);
        factory.transferFrom(ALICE, BOB, 1);
    }

    function test_transfers_work_while_paused() public {
        mint(ALICE, DAILY);
        vm.prank(OWNER);
        factory.pause();
        transfer(ALICE, BOB, 1);
        vm.assertEq(factory.ownerOf(1), BOB, "moved");
    }

    // --------------------------------------------------------------------------------------------------------- gifts

    event GiftsDeclined(address indexed wallet, bool declined);

    function decline(address wallet, bool declined) internal {
        vm.expectEmit(true, true, true, true, address(factory));
        emit GiftsDeclined(wallet, declined);
        vm.prank(wallet);
        factory.declineGifts(declined);
        vm.assertTrue(factory.declinesGifts(wallet) == declined, "as said");
    }

    function test_a_wallet_may_decline_gifts_and_still_buys_fetches_and_gives() public {
        mintMany(ALICE, 9);
        uint256[] memory list = factory.nodesOf(ALICE);
        uint256 gift = mint(BOB, DAILY);
        decline(ALICE, true);
        assertList(ALICE, list, "the list is untouched");
        vm.expectRevert(INodeFactory.GiftDeclined.selector);
        transfer(BOB, ALICE, gift);
        vm.prank(BOB);
        factory.approve(ALICE, gift);
        vm.prank(ALICE);
        factory.transferFrom(BOB, ALICE, gift);
        mint(ALICE, DAILY);
        transfer(ALICE, CAROL, 1);
        transfer(ALICE, ALICE, 2);
        vm.assertEq(factory.balanceOf(ALICE), 10, "counted without the bit");
        vm.assertTrue(factory.declinesGifts(ALICE), "still");
        decline(ALICE, true);
        decline(ALICE, false);
        transfer(CAROL, ALICE, 1);
        vm.assertEq(factory.nodesOf(ALICE).length, 11, "all of hers");
    }

    function test_a_wallet_without_nodes_may_decline_gifts() public {
        mint(BOB, DAILY);
        decline(ALICE, true);
        vm.expectRevert(INodeFactory.GiftDeclined.selector);
        transfer(BOB, ALICE, 1);
        vm.assertEq(factory.balanceOf(ALICE), 0, "none");
        vm.assertEq(factory.nodesOf(ALICE).length, 0, "none");
        mintMany(ALICE, CAP);
        mint(ALICE, DAILY);
        vm.assertEq(factory.balanceOf(ALICE), CAP, "the cap is one for all");
        for (uint256 id = 2; id <= CAP + 1; ++id) {
            transfer(ALICE, CAROL, id);
        }
        vm.assertTrue(factory.declinesGifts(ALICE), "with none left too");
    }

    // --------------------------------------------------------------------------------------------------------- ether

    /// @dev A minter's key is the one key that can keep a node from a wallet: it fills it, declined gifts or not.
    function test_a_minter_that_fills_a_wallet_keeps_transfers_from_it_and_from_no_other() public {
        uint256 id = mint(ALICE, DAILY);
        creditTurn(DAILY, 1 ether);
        vm.prank(BOB);
        factory.declineGifts(true);
        for (uint256 i; i < CAP; ++i) {
            mint(BOB, OTHER);
        }
        vm.expectRevert(INodeFactory.GiftDeclined.selector);
        vm.prank(ALICE);
        factory.transferFrom(ALICE, BOB, id);
        vm.prank(ALICE);
        factory.approve(BOB, id);
        vm.expectRevert(INodeFactory.WalletFull.selector);
        vm.prank(BOB);
        factory.transferFrom(ALICE, BOB, id);
        vm.prank(BOB);
        factory.transferFrom(BOB, address(0xC1), id + 1);
        vm.prank(BOB);
        factory.transferFrom(ALICE, BOB, id);
        vm.assertEq(factory.ownerOf(id), BOB, "once it moved one on");
        vm.prank(BOB);
        factory.withdraw(id, BOB, 1 ether);
    }

    function test_transfers_and_approvals_take_no_ether() public {
        mint(ALICE, DAILY);
        vm.deal(ALICE, 9);
        bytes4 reason = INodeFactory.EtherRefused.selector;
        vm.expectRevert(reason);
        vm.prank(ALICE);
        factory.transferFrom{value: 1}(ALICE, BOB, 1);
        vm.expectRevert(reason);
        vm.prank(ALICE);
        factory.safeTransferFrom{value: 1}(ALICE, BOB, 1);
        vm.expectRevert(reason);
        vm.prank(ALICE);
        factory.safeTransferFrom{value: 1}(ALICE, BOB, 1, "data");
        vm.expectRevert(reason);
        vm.prank(ALICE);
        factory.approve{value: 1}(BOB, 1);
        vm.expectRevert(reason);
        vm.prank(ALICE);
        factory.approve{value: 1}(address(0), 1);
        vm.prank(ALICE);
        factory.approve(BOB, 1);
        vm.assertEq(factory.getApproved(1), BOB, "approved");
        vm.expectRevert(reason);
        vm.prank(ALICE);
        factory.approve{value: 1}(address(0), 1);
        vm.assertEq(factory.getApproved(1), BOB, "still approved");
        vm.prank(ALICE);
        factory.approve(address(0), 1);
        vm.assertEq(factory.getApproved(1), address(0), "taken back");
        vm.assertEq(address(factory).balance, 0, "nothing stayed");
    }

    // ---------------------------------------------------------------------------------------------------- safe moves

    function test_a_safe_transfer_asks_the_recipient_and_keeps_the_lists() public {
        mintMany(ALICE, 9);
        Receiver receiver = new Receiver();
        vm.prank(ALICE);
        factory.safeTransferFrom(ALICE, address(receiver), 2, "with data");
        vm.assertEq(receiver.lastData(), keccak256("with data"), "asked");
        assertAllBut(ALICE, 1, 9, 2);
        vm.prank(ALICE);
        factory.safeTransferFrom(ALICE, BOB, 1);
        vm.assertEq(factory.nodesOf(BOB).length, 1, "a plain wallet is not asked");
        vm.expectRevert(ERC721.TransferToNonERC721ReceiverImplementer.selector);
        vm.prank(ALICE);
        factory.safeTransferFrom(ALICE, address(this), 3);
    }

    function test_an_operator_moves_all_of_a_wallets_nodes() public {
        mintMany(ALICE, 2);
        vm.prank(ALICE);
        factory.setApprovalForAll(BOB, true);
        vm.prank(BOB);
        factory.transferFrom(ALICE, CAROL, 1);
        vm.prank(ALICE);
        factory.setApprovalForAll(BOB, false);
        vm.expectRevert(ERC721.NotOwnerNorApproved.selector);
        vm.prank(BOB);
        factory.transferFrom(ALICE, CAROL, 2);
    }

    /// @dev Leftovers past the count of a nearly full list, then the last lanes written over them.
    function test_a_nearly_full_list_is_written_lane_by_lane() public {
        factory = deploy(OWNER, 256);
        open();
        mintMany(ALICE, 256);
        for (uint256 id = 250; id <= 256; ++id) {
            transfer(ALICE, BOB, id);
        }
        uint256 fresh = mint(ALICE, DAILY);
        uint256[] memory list = factory.nodesOf(ALICE);
        vm.assertEq(list.length, 250, "count");
        for (uint256 i; i < 249; ++i) {
            vm.assertEq(list[i], i + 1, "neighbours untouched");
        }
        vm.assertEq(list[249], fresh, "the new one");
        for (uint256 id = 250; id <= 255; ++id) {
            transfer(BOB, ALICE, id);
        }
        vm.assertEq(factory.nodesOf(ALICE)[255], 255, "the last lane");
        assertNoneTwice(factory.nodesOf(ALICE));
    }

    function assertNoneTwice(uint256[] memory list) internal pure {
        for (uint256 i; i < list.length; ++i) {
            for (uint256 j; j < i; ++j) {
                vm.assertTrue(list[i] != list[j], "once");
            }
        }
    }
}
