// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {Factory, FactoryTest} from "../test/FactoryTest.sol";

/// @notice Owns what the proofs share: a factory with nodes of two wallets, credited and withdrawn from by amounts that the
/// caller leaves open. It must never fix an amount that a property speaks of.
/// @dev A prover takes every argument for any value of its type and explores every path; forge tries values at random.
abstract contract Proofs is FactoryTest {
    uint256 internal constant ALICES = 1;
    uint256 internal constant BOBS = 2;
    uint256 internal constant NEWCOMER = 3;

    /// @dev What a node, the books and the ether of the contract are.
    struct Books {
        uint256 alices;
        uint256 bobs;
        uint256 newcomers;
        uint256 owed;
        uint256 ether_;
        uint256 nextDue;
    }

    function setUp() public virtual override {
        super.setUp();
        mint(order(ALICE, DAILY, "alice"));
        mint(order(BOB, DAILY, "bob"));
    }

    function books() internal view returns (Books memory) {
        return Books({
            alices: balanceOfNode(ALICES),
            bobs: balanceOfNode(BOBS),
            newcomers: factory.lastId() < NEWCOMER ? 0 : balanceOfNode(NEWCOMER),
            owed: factory.outstanding(),
            ether_: address(factory).balance,
            nextDue: nextDueOf(DAILY)
        });
    }

    function assertSame(Books memory before) internal view {
        vm.assertEq(keccak256(abi.encode(books())), keccak256(abi.encode(before)), "nothing moved");
    }

    /// @dev One turn at `amount` for each of two nodes, then a newcomer, then a withdrawal from Alice's.
    function history(uint80 amount, uint80 withdrawn) internal {
        vm.assume(amount <= CEILING_GWEI * 1 gwei);
        vm.assume(withdrawn <= amount);
        creditTurn(DAILY, amount);
        mint(order(CAROL, DAILY, "newcomer"));
        if (withdrawn == 0) return;
        vm.prank(ALICE);
        factory.withdraw(ALICES, ALICE, withdrawn);
    }

    function creditCall(uint256 round, INodeFactory.CohortCredit[] memory credits)
        internal
        view
        returns (bytes memory)
    {
        return abi.encodeCall(INodeFactory.credit, (round, 0, 0, block.timestamp, credits));
    }

    /// @dev Any call by any account but the factory's own, which calls nothing of itself; whether it succeeded.
    function attempt(address caller, uint256 value, bytes memory call) internal returns (bool ok) {
        vm.assume(caller != address(factory));
        vm.deal(caller, value);
        vm.prank(caller);
        (ok,) = address(factory).call{value: value}(call);
    }
}
