// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {Test} from "./Test.sol";

/// @dev The factory with its ERC-721 side. The tests know it by this face alone, and deploy its compiled code: importing
/// the contract would compile it again into every test.
interface Factory is INodeFactory {
    function ownerOf(uint256 id) external view returns (address);
    function balanceOf(address wallet) external view returns (uint256);
    function transferFrom(address from, address to, uint256 id) external payable;
    function safeTransferFrom(address from, address to, uint256 id) external payable;
    function safeTransferFrom(address from, address to, uint256 id, bytes calldata data) external payable;
    function approve(address account, uint256 id) external payable;
    function getApproved(uint256 id) external view returns (address);
    function isApprovedForAll(address owner, address operator) external view returns (bool);
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
    uint256 internal constant LEAST_INTERVAL = 1 minutes;
    uint256 internal constant EXPULSION_PERIOD = 7 days;
    uint256 internal constant TIER = 7;
    uint256 internal constant NO_CAP = type(uint32).max;
    uint256 internal constant FIRST_DUE = START + 1 days;
    uint256 internal constant CAP = 20;
    uint256 internal constant DAILY = 1;
    uint256 internal constant OTHER = 2;
    uint256 internal constant NODES = type(uint32).max;
    uint256 internal constant COHORTS = type(uint16).max;
    uint256 internal constant CEILING_GWEI = type(uint48).max;
    uint256 internal constant NO_END = type(uint40).max;

    /// @dev Storage, as docs/CONTRACT.md has it.
    uint256 internal constant BOOKS_SLOT = 1;
    uint256 internal constant MINTER_SLOT = 6;

    Factory internal factory;
    uint256 private _refs;

    function setUp() public virtual {
        vm.warp(START);
        vm.roll(10_000);
        factory = deploy(OWNER, CAP);
        vm.deal(DISTRIBUTOR, type(uint128).max);
        open();
        open();
    }

    function setupOf(address owner, uint256 cap) internal pure returns (INodeFactory.Setup memory) {
        return INodeFactory.Setup({
            owner: owner,
            minter: MINTER,
            nodes: NODES,
            cohorts: COHORTS,
            distributor: DISTRIBUTOR,
            floorGwei: 0,
            ceilingGwei: CEILING_GWEI,
            maxPerWallet: cap,
            leastInterval: LEAST_INTERVAL,
            expulsionPeriod: EXPULSION_PERIOD
        });
    }

    function deploy(address owner, uint256 cap) internal returns (Factory) {
        return deploy(setupOf(owner, cap));
    }

    function deploy(INodeFactory.Setup memory setup) internal returns (Factory) {
        return Factory(create(bytes.concat(vm.getCode("NodeFactory.sol:NodeFactory"), abi.encode(setup))));
    }

    // ------------------------------------------------------------------------------------------------------ opening

    function opening(uint256 tier, uint256 firstDue, uint256 interval)
        internal
        pure
        returns (INodeFactory.CohortOpening[] memory openings)
    {
        openings = new INodeFactory.CohortOpening[](1);
        openings[0] = INodeFactory.CohortOpening(tier, firstDue, interval);
    }

    /// @dev The next cohort; the number it got.
    function open(uint256 tier, uint256 firstDue, uint256 interval) internal returns (uint256 cohort) {
        cohort = factory.lastCohort() + 1;
        vm.prank(MINTER);
        factory.openCohorts(cohort, opening(tier, firstDue, interval), block.timestamp);
    }

    function open() internal returns (uint256) {
        return open(TIER, FIRST_DUE, INTERVAL);
    }

    // ------------------------------------------------------------------------------------------------------ minting

    function order(address to, uint256 cohort, bytes32 ref) internal pure returns (INodeFactory.Order[] memory orders) {
        orders = new INodeFactory.Order[](1);
        orders[0] = INodeFactory.Order(to, cohort, ref);
    }

    function mint(INodeFactory.Order[] memory orders) internal {
        vm.prank(MINTER);
        factory.mint(orders, 0, 0, block.timestamp);
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

    /// @dev Makes the next mint's id `id`.
    function skipTo(uint256 id) internal {
        writeMinter(160, type(uint32).max, id - 1);
        vm.assertEq(factory.lastId(), id - 1, "the field written here");
    }

    /// @dev Makes the next cohort's number `cohort`.
    function skipToCohort(uint256 cohort) internal {
        writeMinter(240, type(uint16).max, cohort - 1);
        vm.assertEq(factory.lastCohort(), cohort - 1, "the field written here");
    }

    function writeMinter(uint256 shift, uint256 mask, uint256 value) private {
        uint256 word = uint256(vm.load(address(factory), bytes32(MINTER_SLOT)));
        word = (word & ~(mask << shift)) | (value << shift);
        vm.store(address(factory), bytes32(MINTER_SLOT), bytes32(word));
    }

    // ---------------------------------------------------------------------------------------------------- crediting

    function nextDueOf(uint256 cohort) internal view returns (uint256 nextDue) {
        (,, nextDue,,) = factory.cohort(cohort);
    }

    /// @dev `skipped` and then `paid` turns of a cohort, from the one that is pending.
    function entry(uint256 cohort, uint256 skipped, uint256 paid, uint256 amount)
        internal
        view
        returns (INodeFactory.CohortCredit[] memory credits)
    {
        credits = new INodeFactory.CohortCredit[](1);
        credits[0] = INodeFactory.CohortCredit(cohort, nextDueOf(cohort), skipped, paid, amount);
    }

    function turn(uint256 cohort, uint256 amount) internal view returns (INodeFactory.CohortCredit[] memory credits) {
        return entry(cohort, 0, 1, amount);
    }

    function turns(uint256 cohort, uint256 amount, uint256 cohort2, uint256 amount2)
        internal
        view
        returns (INodeFactory.CohortCredit[] memory credits)
    {
        credits = new INodeFactory.CohortCredit[](2);
        credits[0] = turn(cohort, amount)[0];
        credits[1] = turn(cohort2, amount2)[0];
    }

    /// @dev A round by anyone; every argument is evaluated before the caller is set.
    function creditAs(address caller, uint256 round, INodeFactory.CohortCredit[] memory credits, uint256 value)
        internal
    {
        vm.prank(caller);
        factory.credit{value: value}(round, 0, 0, block.timestamp, credits);
    }

    function credit(INodeFactory.CohortCredit[] memory credits, uint256 value) internal {
        creditAs(DISTRIBUTOR, factory.round() + 1, credits, value);
    }

    function refuseCredit(bytes4 reason, INodeFactory.CohortCredit[] memory credits, uint256 value) internal {
        uint256 next = factory.round() + 1;
        vm.expectRevert(reason);
        creditAs(DISTRIBUTOR, next, credits, value);
    }

    function refuseRound(bytes4 reason, address caller, uint256 round, uint256 cohort, uint256 amount) internal {
        INodeFactory.CohortCredit[] memory credits = turn(cohort, amount);
        vm.expectRevert(reason);
        creditAs(caller, round, credits, 0);
    }

    /// @dev The cohort's next turn, once its time has come, with the exact value.
    function creditTurn(uint256 cohort, uint256 amount) internal {
        (, uint256 size, uint256 due,,) = factory.cohort(cohort);
        if (block.timestamp < due) vm.warp(due);
        credit(turn(cohort, amount), amount * size);
    }

    // ------------------------------------------------------------------------------------------------------- supply

    function capTier(uint256 tier, uint256 most) internal {
        vm.prank(OWNER);
        factory.capTier(tier, most);
    }

    function assertSupply(uint256 tier, uint256 minted, uint256 most) internal view {
        (uint256 mintedNow, uint256 mostNow) = factory.tierSupply(tier);
        vm.assertEq(mintedNow, minted, "nodes of the tier");
        vm.assertEq(mostNow, most, "the most it may have");
    }

    // ------------------------------------------------------------------------------------------------------- shared

    function allow(uint256 amount) internal {
        uint256 former = factory.swapsAllowance();
        vm.prank(OWNER);
        factory.setSwapsAllowance(DISTRIBUTOR, amount, former);
    }

    function ids(uint256 a, uint256 b) internal pure returns (uint256[] memory list) {
        list = new uint256[](2);
        (list[0], list[1]) = (a, b);
    }

    function balanceOfNode(uint256 id) internal view returns (uint256 balance) {
        (, balance,,,) = factory.nodeInfo(id);
    }
}
