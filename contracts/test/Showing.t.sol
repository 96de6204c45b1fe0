// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Base64} from "solady/utils/Base64.sol";
import {ERC721} from "solady/tokens/ERC721.sol";
import {INodeFactory} from "../src/INodeFactory.sol";
import {FactoryTest} from "./FactoryTest.sol";

/// @notice Owns what markets, wallets and indexers see of a node: metadata, fingerprint, interfaces.
contract ShowingTest is FactoryTest {
    string internal constant JSON = "data:application/json;base64,";

    /// @dev The metadata as text, its picture decoded beside it.
    function metadata(uint256 id) internal view returns (string memory json, string memory picture) {
        string memory uri = factory.tokenURI(id);
        json = string(Base64.decode(between(uri, JSON, "@")));
        picture = string(Base64.decode(between(json, "data:image/svg+xml;base64,", "\"")));
    }

    /// @dev The text between the one `left` and the next `right`, or the end.
    function between(string memory text, string memory left, string memory right)
        internal
        pure
        returns (string memory)
    {
        string[] memory parts = vm.split(text, left);
        vm.assertEq(parts.length, 2, left);
        return vm.split(parts[1], right)[0];
    }

    function assertHolds(string memory text, string memory part) internal pure {
        vm.assertTrue(vm.contains(text, part), part);
    }

    function test_a_nodes_metadata_is_its_figures_to_the_wei() public {
        mintMany(BOB, 11);
        mint(ALICE, DAILY);
        creditTurn(DAILY, 1_203 ether + 40_000 gwei);
        vm.prank(ALICE);
        factory.withdraw(12, ALICE, 3 ether);
        (string memory json, string memory picture) = metadata(12);
        assertHolds(json, '{"name":"Node 12","description":"');
        assertHolds(json, '{"trait_type":"Balance","value":"1200.00004"}');
        assertHolds(json, '{"trait_type":"Credited","value":"1203.00004"}');
        assertHolds(json, '{"trait_type":"Withdrawn","value":"3"}');
        assertHolds(json, '{"trait_type":"Cohort","value":"1"},{"trait_type":"Tier","value":"7"}]}');
        assertHolds(picture, "<svg xmlns=");
        assertHolds(picture, ">12</text>");
        assertHolds(picture, ">1200.00004 ETH</text>");
        assertHolds(picture, ">tier 7</text></svg>");
    }

    function test_amounts_are_shown_whole() public {
        mint(ALICE, DAILY);
        assertBalance("0");
        creditTurn(DAILY, 1);
        assertBalance("0.000000000000000001");
        creditTurn(DAILY, 1 ether - 1);
        assertBalance("1");
        creditTurn(DAILY, 0.1 ether);
        assertBalance("1.1");
        creditTurn(DAILY, 0.023456789012345678 ether);
        assertBalance("1.123456789012345678");
    }

    function assertBalance(string memory expected) internal view {
        (string memory json, string memory picture) = metadata(1);
        assertHolds(json, string.concat('{"trait_type":"Balance","value":"', expected, '"}'));
        assertHolds(picture, string.concat(">", expected, " ETH<"));
    }

    function test_a_node_of_tier_0_shows_its_tier() public {
        mint(ALICE, open(0, FIRST_DUE, INTERVAL));
        (, string memory picture) = metadata(1);
        assertHolds(picture, ">tier 0</text></svg>");
    }

    function test_an_expelled_node_shows_that() public {
        mint(order(ALICE, DAILY, "ref"));
        bytes32[] memory refs = new bytes32[](1);
        refs[0] = "ref";
        vm.prank(OWNER);
        factory.expel(refs);
        (string memory json, string memory picture) = metadata(1);
        assertHolds(json, '{"trait_type":"Cohort","value":"closed"}]}');
        assertHolds(picture, ">expelled</text></svg>");
    }

    function test_the_token_has_its_name_and_its_interfaces() public view {
        vm.assertEq(factory.name(), "Node Ledger", "name");
        vm.assertEq(factory.symbol(), "NODE", "symbol");
        bytes4[4] memory known = [bytes4(0x01ffc9a7), 0x80ac58cd, 0x5b5e139f, 0xf5112315];
        for (uint256 i; i < known.length; ++i) {
            vm.assertTrue(factory.supportsInterface(known[i]), "ERC-165, ERC-721, its metadata, ERC-5646");
        }
        vm.assertTrue(!factory.supportsInterface(0xffffffff), "not the one that must be denied");
        vm.assertTrue(!factory.supportsInterface(0x49064906), "no metadata events");
    }

    // --------------------------------------------------------------------------------------------------- fingerprint

    bytes32 private last;

    function assertChanged(bool changed, string memory what) internal {
        bytes32 now_ = factory.getStateFingerprint(1);
        vm.assertTrue((now_ != last) == changed, what);
        last = now_;
    }

    function test_a_fingerprint_changes_with_all_that_a_buyer_would_mind() public {
        mint(order(ALICE, DAILY, "first"));
        mint(order(BOB, OTHER, "second"));
        assertChanged(true, "it is");
        creditTurn(DAILY, 3 ether);
        assertChanged(true, "a credit");
        vm.prank(ALICE);
        factory.withdraw(1, ALICE, 1 ether);
        assertChanged(true, "a withdrawal");
        vm.prank(ALICE);
        factory.transferFrom(ALICE, CAROL, 1);
        assertChanged(true, "another owner");
        vm.prank(CAROL);
        factory.approve(BOB, 1);
        creditTurn(OTHER, 3 ether);
        assertChanged(false, "what happens to others");
        vm.prank(CAROL);
        factory.transferFrom(CAROL, ALICE, 1);
        assertChanged(true, "owned as before");
        vm.assertTrue(factory.getStateFingerprint(2) != last, "each node's own");
    }

    function test_two_like_nodes_of_one_owner_have_fingerprints_of_their_own() public {
        mintMany(ALICE, 3);
        bytes32[3] memory prints =
            [factory.getStateFingerprint(1), factory.getStateFingerprint(2), factory.getStateFingerprint(3)];
        vm.assertTrue(prints[0] != prints[1] && prints[1] != prints[2] && prints[0] != prints[2], "each its own");
    }

    function test_the_last_node_there_can_be_is_read_and_withdrawn_from() public {
        uint256 last_ = type(uint32).max;
        skipTo(last_);
        vm.assertEq(mint(ALICE, DAILY), last_, "the last id");
        creditTurn(DAILY, 3 ether);
        (address holder, uint256 balance,,, uint256 cohort) = factory.nodeInfo(last_);
        vm.assertEq(holder, ALICE, "owner");
        vm.assertEq(balance, 3 ether, "balance");
        vm.assertEq(cohort, DAILY, "cohort");
        INodeFactory.NodeView[] memory views = factory.nodesInfo(last_ - 1, 5);
        vm.assertEq(views.length, 2, "as far as there are any");
        vm.assertEq(views[1].balance, 3 ether, "the last of a range");
        vm.assertTrue(factory.getStateFingerprint(last_) != 0, "fingerprint");
        assertHolds(factory.tokenURI(last_), JSON);
        vm.assertEq(factory.nodesOf(ALICE)[0], last_, "in its list");
        vm.prank(ALICE);
        factory.withdraw(last_, ALICE, 1 ether);
        vm.prank(ALICE);
        factory.transferFrom(ALICE, BOB, last_);
        uint256[] memory one = new uint256[](1);
        one[0] = last_;
        vm.prank(BOB);
        factory.withdrawAll(one, BOB);
        vm.assertEq(BOB.balance, 2 ether, "the rest");
    }

    function test_a_fingerprint_tells_an_expelled_node() public {
        mint(order(ALICE, DAILY, "ref"));
        assertChanged(true, "it is");
        bytes32[] memory refs = new bytes32[](1);
        refs[0] = "ref";
        vm.prank(OWNER);
        factory.expel(refs);
        assertChanged(true, "expelled");
    }

    function test_a_fingerprint_is_of_a_node_that_exists() public {
        vm.expectRevert(ERC721.TokenDoesNotExist.selector);
        factory.getStateFingerprint(1);
    }
}
