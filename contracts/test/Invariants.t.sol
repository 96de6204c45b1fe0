// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {Factory} from "./FactoryTest.sol";
import {Handler} from "./Handler.sol";
import {Test} from "./Test.sol";
import {Refuser} from "./Withdrawing.t.sol";

/// @notice Owns what must hold after any sequence of acts. It must never act itself: the handler does.
/// @dev forge calls the handler at random, and each function here at intervals and at the end of each run.
contract InvariantsTest is Test {
    Handler private handler;

    function setUp() public {
        vm.warp(1_700_000_000);
        bytes memory arguments = abi.encode(address(0xA0), address(0xA1), address(0xA2), 18);
        address factory = create(bytes.concat(vm.getCode("NodeFactory.sol:NodeFactory"), arguments));
        handler = new Handler(Factory(factory), address(new Refuser()));
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    function invariant_what_is_owed_is_the_sum_of_balances_and_covered() public view {
        handler.checkTotals();
    }

    function invariant_no_ether_appears_or_vanishes() public view {
        handler.checkConservation();
    }

    function invariant_every_node_is_as_the_model_has_it() public view {
        handler.checkNodes();
    }

    function invariant_every_cohort_is_as_the_model_has_it() public view {
        handler.checkCohorts();
    }

    function invariant_every_wallets_list_is_its_nodes_each_once_within_the_cap() public view {
        handler.checkWallets();
    }
}
