// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title The factory's whole surface: what a service, a wallet or an explorer may rely on.
/// @notice Owns names, meanings and refusals. It must never hold code, and nothing here may change once a factory is
/// deployed with it: the factory is immutable. ERC-721 itself (transfers, approvals, their errors) comes beside it.
/// @dev Every number is a uint256 here and packed inside. Amounts are wei, times are unix seconds of block time.
interface INodeFactory {
    // ------------------------------------------------------------------------------------------------ what goes in

    /// @notice One node to mint. `ref` names the reason for it (a payment): one ref is one node, for ever.
    struct Order {
        address to;
        uint256 cohort;
        bytes32 ref;
    }

    /// @notice One cohort's turn to pay: every node in it is credited `amountPerNode`.
    struct CohortCredit {
        uint256 cohort;
        uint256 amountPerNode;
    }

    /// @notice One cohort to open, as in `openCohort`.
    struct CohortOpening {
        uint256 cohort;
        uint256 tier;
        uint256 firstDue;
        uint256 interval;
    }

    // ----------------------------------------------------------------------------------------------- what comes out

    /// @notice One node as `nodeInfo` tells it, with its id, for reading many at once.
    struct NodeView {
        uint256 id;
        address owner;
        uint256 balance;
        uint256 credited;
        uint256 withdrawn;
        uint256 cohort;
    }

    // ------------------------------------------------------------------------------------------------------- events

    /// @notice A node came into being. An empty cohort whose turn had passed has rolled `nextDue` forward by whole
    /// intervals to the first time after this block's: a reader can do the same sum, so there is no event for it.
    event NodeMinted(uint256 indexed nodeId, address indexed owner, bytes32 indexed ref, uint256 cohort);

    /// @notice An order was passed over; the others of its batch were not. Reasons: 1 the wallet is at its cap, 2 the
    /// cohort was never opened or its turn is due and unpaid, 3 the recipient is impossible (zero, or this contract).
    event MintSkipped(bytes32 indexed ref, uint256 reason);

    event CohortOpened(uint256 indexed cohort, uint256 tier, uint256 firstDue, uint256 interval);

    /// @notice The turn that is pending keeps its time; the ones after it follow at the new interval.
    event IntervalSet(uint256 indexed cohort, uint256 interval);

    /// @notice A cohort's turn `due` was paid: each of its `nodeCount` nodes was credited `amountPerNode`.
    event Credited(
        uint256 indexed round, uint256 indexed cohort, uint256 due, uint256 amountPerNode, uint256 nodeCount
    );

    /// @notice `amount` left for `to`; the node has withdrawn `withdrawnTotal` since its mint, this included.
    event Withdrawn(uint256 indexed nodeId, address indexed owner, address to, uint256 amount, uint256 withdrawnTotal);

    event Paused();
    event Unpaused();
    event MinterSet(address minter);
    event DistributorSet(address distributor);
    event SwapsAllowanceSet(uint256 allowance);
    event Swept(address to, uint256 amount);
    event OwnershipTransferStarted(address owner, address pendingOwner);
    event OwnershipTransferred(address previousOwner, address owner);

    // ------------------------------------------------------------------------------------------------------- errors

    /// @notice The caller is not the contract's owner.
    error NotOwner();
    /// @notice The caller is not the pending owner.
    error NotPendingOwner();
    /// @notice The caller is not the minter.
    error NotMinter();
    /// @notice The caller is not the distributor.
    error NotDistributor();
    /// @notice The caller does not own this node. Approvals move nodes, never their money.
    error NotNodeOwner();
    /// @notice Minting and crediting are paused.
    error IsPaused();
    /// @notice The contract would belong to nobody.
    error ZeroOwner();
    /// @notice The cap on nodes per wallet lies outside 1..256.
    error CapOutOfRange();
    /// @notice The guard block is not on this fork, or lies more than 256 blocks back.
    error StaleFork();
    /// @notice This cohort number has been used.
    error CohortAlreadyOpen();
    /// @notice This cohort was never opened.
    error CohortNotOpen();
    /// @notice A cohort number or tier above 65535, a first turn at 0 or beyond 40 bits, an interval of 0 or beyond
    /// 32 bits.
    error ScheduleOutOfRange();
    /// @notice More than the pending turn lies in the past under the old or the new interval: pay what is owed first.
    error TurnsOverdue();
    /// @notice There are no node ids left.
    error NodeIdsExhausted();
    /// @notice The round is not the next one.
    error WrongRound();
    /// @notice A round must pay at least one cohort.
    error EmptyRound();
    /// @notice A round pays a cohort once.
    error CohortTwiceInRound();
    /// @notice The cohort has no nodes (or was never opened): there is nobody to credit.
    error EmptyCohort();
    /// @notice The cohort's next turn lies ahead.
    error TurnNotDue();
    /// @notice An amount exceeds what the books can hold: 80 bits per node, 96 bits in all.
    error AmountTooLarge();
    /// @notice The ether sent is neither the round's exact total nor zero.
    error WrongValue();
    /// @notice The round would spend more surplus than the owner allowed.
    error AllowanceExceeded();
    /// @notice The amount exceeds the ether that is owed to nobody.
    error SurplusExceeded();
    /// @notice The node's balance is smaller than that.
    error BalanceExceeded();
    /// @notice There is nothing to move.
    error ZeroAmount();
    /// @notice The recipient is the zero address or this contract.
    error ImpossibleRecipient();
    /// @notice The recipient refused the ether.
    error SendFailed();
    /// @notice The recipient holds as many nodes as a wallet may.
    error WalletFull();

    // ------------------------------------------------------------------------------------------------------- minter

    /// @notice Opens a cohort: a tier, and turns at `firstDue`, `firstDue + interval` and so on. A number is used once
    /// and for ever. `firstDue` may lie in the past: a cohort without nodes cannot be paid, and its first mint rolls
    /// the turn forward, so only the phase is kept.
    function openCohort(uint256 cohort, uint256 tier, uint256 firstDue, uint256 interval) external;

    /// @notice `openCohort` for several, all or none.
    function openCohorts(CohortOpening[] calldata openings) external;

    /// @notice Mints a node per order. An order whose ref was used is skipped silently, one that cannot be minted now
    /// is skipped with `MintSkipped`; neither stops the others.
    /// @param guardBlock A block at or after everything the orders rest on, at most 256 blocks back.
    /// @param guardHash Its hash: on another fork the call reverts with `StaleFork`. Zero: no guard.
    function mint(Order[] calldata orders, uint256 guardBlock, bytes32 guardHash) external;

    // -------------------------------------------------------------------------------------------------- distributor

    /// @notice Pays the pending turn of each listed cohort, in round `round`, which must be the next one. The value
    /// sent is the exact total, or zero to spend surplus within the allowance. An amount of zero is a turn like any.
    function credit(uint256 round, uint256 guardBlock, bytes32 guardHash, CohortCredit[] calldata credits)
        external
        payable;

    // ------------------------------------------------------------------------------------------------- node's owner

    /// @notice Sends `amount` of the node's balance to `to`. Never paused.
    function withdraw(uint256 id, address to, uint256 amount) external;

    /// @notice Sends the whole balances of the caller's nodes to `to` in one transfer. Nodes without a balance are
    /// passed over; a total of zero reverts. Never paused.
    function withdrawAll(uint256[] calldata ids, address to) external;

    // --------------------------------------------------------------------------------------------- contract's owner

    /// @notice Changes the time between turns after the pending one. Never recounts turns that have passed.
    function setInterval(uint256 cohort, uint256 interval) external;

    /// @notice Replaces a hot key at once. Zero: nobody has the role.
    function setMinter(address newMinter) external;
    function setDistributor(address newDistributor) external;

    /// @notice How much surplus rounds without value may spend from now on.
    function setSwapsAllowance(uint256 allowance) external;

    /// @notice Sends ether that is owed to nobody.
    function sweep(address to, uint256 amount) external;

    /// @notice Stops minting and crediting; never withdrawing, never transfers.
    function pause() external;
    function unpause() external;

    /// @notice Names the next owner, who must accept. Zero takes an offer back.
    function transferOwnership(address newOwner) external;
    function acceptOwnership() external;

    // ------------------------------------------------------------------------------------------------------ reading

    /// @notice Ids of the wallet's nodes, in no particular order.
    function nodesOf(address wallet) external view returns (uint256[] memory ids);

    /// @notice A node's owner, balance, credited total, withdrawn total (wei since its mint), and cohort. Reverts with
    /// `TokenDoesNotExist` for an id that was never minted.
    function nodeInfo(uint256 id)
        external
        view
        returns (address nodeOwner, uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId);

    /// @notice The nodes among ids `firstId` to `firstId + count - 1`: shorter, even empty, where there are none.
    function nodesInfo(uint256 firstId, uint256 count) external view returns (NodeView[] memory nodes);

    /// @notice Id of the node minted for `ref`, 0 for none.
    function nodeOfRef(bytes32 ref) external view returns (uint256 id);

    /// @notice The highest node id; nodes are numbered from 1 without gaps, so this counts them too.
    function lastId() external view returns (uint256);

    /// @notice What each node was credited since the opening, how many nodes there are, the turn owed next, the time
    /// between turns, and the tier. All zero (an interval never is, otherwise) for a cohort that was never opened.
    function cohort(uint256 id)
        external
        view
        returns (uint256 perNode, uint256 size, uint256 nextDue, uint256 interval, uint256 tier);

    /// @notice Number of the round paid last; the next one is this plus 1.
    function round() external view returns (uint256);

    /// @notice All that was ever credited, and all that was ever withdrawn.
    function creditedTotal() external view returns (uint256);
    function withdrawnTotal() external view returns (uint256);

    /// @notice What the contract owes: the sum of all balances.
    function outstanding() external view returns (uint256);

    /// @notice Whether the contract's ether covers what it owes.
    function isSolvent() external view returns (bool);

    function swapsAllowance() external view returns (uint256);
    function maxPerWallet() external view returns (uint256);
    function paused() external view returns (bool);
    function owner() external view returns (address);
    function pendingOwner() external view returns (address);
    function minter() external view returns (address);
    function distributor() external view returns (address);

    /// @notice What the contract takes for the hash of a block (zero beyond 256 back), to compare with an RPC's.
    function hashOf(uint256 blockNumber) external view returns (bytes32);
}
