// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {Test} from "./Test.sol";

/// @dev The factory with its ERC-721 side. The tests know it by this face alone, and deploy its compiled code: importing
/// the contract would compile it again into every test.
interface Factory is INodeFactory {
    function ownerOf(uint256 id) external view returns (address);
    function balanceOf(address wallet) external view returns (uint256);
    function transferFrom(address from, address to, uint256 id) external;
    function safeTransferFrom(address from, address to, uint256 id) external;
    function approve(address account, uint256 id) external;
    function setApprovalForAll(address operator, bool approved) external;
    function name() external view returns (string memory);
    function symbol() external view returns (string memory);
    function tokenURI(uint256 id) external view returns (string memory);
    function supportsInterface(bytes4 id) external view returns (bool);
}

/// @notice Owns a deployed factory with roles, two open cohorts and short ways to act on it. It must never assert: that
/// is for the tests.
abstract contract FactoryTest is Test {
    address internal constant OWNER = address(0xA0);
    address internal constant MINTER = address(0xA1);
    address internal constant DISTRIBUTOR = address(0xA2);
    address internal constant ALICE = address(0xB1);
    address internal constant BOB = address(0xB2);
    address internal constant CAROL = address(0xB3);

    uint256 internal constant START = 1_700_000_000;
    uint256 internal constant INTERVAL = 1 days;
    uint256 internal constant FIRST_DUE = START + 1 days;
    uint256 internal constant CAP = 20;
    uint256 internal constant DAILY = 1;
    uint256 internal constant OTHER = 2;

    Factory internal factory;
    uint256 private _refs;

    function setUp() public virtual {
        vm.warp(START);
        vm.roll(1_000);
        factory = deploy(OWNER, CAP);
        vm.deal(DISTRIBUTOR, type(uint128).max);
        open(DAILY);
        open(OTHER);
    }

    function deploy(address owner, uint256 cap) internal returns (Factory) {
        bytes memory arguments = abi.encode(owner, MINTER, DISTRIBUTOR, cap);
        return Factory(create(bytes.concat(vm.getCode("NodeFactory.sol:NodeFactory"), arguments)));
    }

    function open(uint256 cohort) internal {
        vm.prank(MINTER);
        factory.openCohort(cohort, 7, FIRST_DUE, INTERVAL);
    }

    function order(address to, uint256 cohort, bytes32 ref) internal pure returns (INodeFactory.Order[] memory orders) {
        orders = new INodeFactory.Order[](1);
        orders[0] = INodeFactory.Order(to, cohort, ref);
    }

    function mint(INodeFactory.Order[] memory orders) internal {
        vm.prank(MINTER);
        factory.mint(orders, 0, 0);
    }

    /// @dev Makes the next mint's id `id`. The minter and the last id share the slot.
    function skipTo(uint256 id) internal {
        bytes32 slot = bytes32(uint256(3));
        uint256 minter = uint160(uint256(vm.load(address(factory), slot)));
        vm.assertEq(minter, uint160(MINTER), "the slot read here");
        vm.store(address(factory), slot, bytes32(minter | ((id - 1) << 160)));
    }

    /// @dev A node with a ref of its own; the id it got.
    function mint(address to, uint256 cohort) internal returns (uint256) {
        mint(order(to, cohort, bytes32(++_refs << 128)));
        return factory.lastId();
    }

    function mintMany(address to, uint256 count) internal {
        for (uint256 i; i < count; ++i) {
            mint(to, DAILY);
        }
    }

    function turn(uint256 cohort, uint256 amount) internal pure returns (INodeFactory.CohortCredit[] memory credits) {
        credits = new INodeFactory.CohortCredit[](1);
        credits[0] = INodeFactory.CohortCredit(cohort, amount);
    }

    function turns(uint256 cohort, uint256 amount, uint256 cohort2, uint256 amount2)
        internal
        pure
        returns (INodeFactory.CohortCredit[] memory credits)
    {
        credits = new INodeFactory.CohortCredit[](2);
        credits[0] = INodeFactory.CohortCredit(cohort, amount);
        credits[1] = INodeFactory.CohortCredit(cohort2, amount2);
    }

    function credit(INodeFactory.CohortCredit[] memory credits, uint256 value) internal {
        uint256 next = factory.round() + 1;
        vm.prank(DISTRIBUTOR);
        factory.credit{value: value}(next, 0, 0, credits);
    }

    function refuseCredit(bytes4 reason, INodeFactory.CohortCredit[] memory credits, uint256 value) internal {
        uint256 next = factory.round() + 1;
        vm.expectRevert(reason);
        vm.prank(DISTRIBUTOR);
        factory.credit{value: value}(next, 0, 0, credits);
    }

    /// @dev The cohort's next turn, once its time has come, with the exact value.
    function creditTurn(uint256 cohort, uint256 amount) internal {
        (, uint256 size, uint256 due,,) = factory.cohort(cohort);
        if (block.timestamp < due) vm.warp(due);
        credit(turn(cohort, amount), amount * size);
    }

    function ids(uint256 a, uint256 b) internal pure returns (uint256[] memory list) {
        list = new uint256[](2);
        (list[0], list[1]) = (a, b);
    }

    function balanceOfNode(uint256 id) internal view returns (uint256 balance) {
        (, balance,,,) = factory.nodeInfo(id);
    }
}
