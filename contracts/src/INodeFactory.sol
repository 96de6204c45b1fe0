// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The factory's whole surface: what a service, a wallet or an explorer may rely on.
/// @notice Owns names, meanings and refusals. It must never hold code, and nothing here may change once a factory is
/// deployed with it: the factory is immutable. ERC-721 itself (transfers, approvals, their errors) comes beside it.
/// @dev Every number is a uint256 here and packed inside. Amounts are wei unless a name ends in Gwei; times are unix
/// seconds of block time. `validUntil` is the last block time at which a call may still be carried out.
interface INodeFactory {
    // ------------------------------------------------------------------------------------------------ what goes in

    /// @notice Constructor argument. `nodes` and `cohorts` are the minter's first budget, the bounds are those of one
    /// node and turn. `leastInterval` is the shortest time between turns that any cohort may have, `expulsionPeriod` the longest
    /// time after its mint in which a node that was credited may be expelled.
    struct Setup {
        address owner;
        address minter;
        uint256 nodes;
        uint256 cohorts;
        address distributor;
        uint256 floorGwei;
        uint256 ceilingGwei;
        uint256 maxPerWallet;
        uint256 leastInterval;
        uint256 expulsionPeriod;
    }

    /// @notice One node to mint. `ref` names the reason for it (a payment): one ref is one node, for ever.
    struct Order {
        address to;
        uint256 cohort;
        bytes32 ref;
    }

    /// @notice One cohort to open; its number follows from its place in the call.
    struct CohortOpening {
        uint256 tier;
        uint256 firstDue;
        uint256 interval;
    }

    /// @notice One cohort's part of a round, from its pending turn `firstDue` on: `skipped` turns that are not owed, then
    /// `paid` turns, for which each node is credited `amountPerNode` in all.
    struct CohortCredit {
        uint256 cohort;
        uint256 firstDue;
        uint256 skipped;
        uint256 paid;
        uint256 amountPerNode;
    }

    // ----------------------------------------------------------------------------------------------- what comes out

    /// @notice One node as `nodeInfo` returns it, with its id, for reading many at once.
    struct NodeView {
        uint256 id;
        address owner;
        uint256 balance;
        uint256 credited;
        uint256 withdrawn;
        uint256 cohort;
    }

    // ------------------------------------------------------------------------------------------------------- events

    /// @notice A node came into being. An empty cohort whose turn had passed has moved `nextDue` forward by whole
    /// intervals to the first time after this block's: a reader can do the same sum, so there is no event for it.
    event NodeMinted(uint256 indexed nodeId, address indexed owner, bytes32 indexed ref, uint256 cohort);

    /// @notice An order was passed over; the others of its batch were not. Reasons: 1 the wallet is at its cap, 2 the
    /// cohort was never opened or its turn is due, 3 the recipient is impossible (zero, or this contract), 4 the minter
    /// has no nodes left in its budget, 5 the tier has as many nodes as it may ever have.
    event MintSkipped(bytes32 indexed ref, uint256 reason);

    /// @notice An order for `to` was passed over, because its ref already is node `nodeId` and another wallet owns that.
    event RefTaken(bytes32 indexed ref, uint256 indexed nodeId, address indexed to);

    event CohortOpened(uint256 indexed cohort, uint256 tier, uint256 firstDue, uint256 interval);

    /// @notice The pending turn keeps its time; the ones after it follow at the new interval.
    event IntervalSet(uint256 indexed cohort, uint256 interval, uint256 former);

    /// @notice `turns` turns of a cohort, the first of them `due`, were not owed and lie behind it.
    event TurnsSkipped(uint256 indexed round, uint256 indexed cohort, uint256 due, uint256 turns);

    /// @notice `turns` turns of a cohort, the first of them `due`, were paid: each of its `nodeCount` nodes was credited
    /// `amountPerNode` for all of them together.
    event Credited(
        uint256 indexed round,
        uint256 indexed cohort,
        uint256 due,
        uint256 turns,
        uint256 amountPerNode,
        uint256 nodeCount
    );

    /// @notice The round was paid from surplus, within the allowance, of which `allowance` is left. Without this event
    /// the distributor sent the round's ether.
    event SurplusSpent(uint256 indexed round, uint256 amount, uint256 allowance);

    /// @notice A node left its cohort for the closed one, number 0: what it was credited until then stays its own, and it
    /// is credited no more. Its ref stays used; its tier has a place more.
    event NodeExpelled(uint256 indexed nodeId, bytes32 indexed ref, uint256 indexed cohort, uint256 credited);

    /// @notice From here on the tier may have `most` nodes at most.
    event TierCapped(uint256 indexed tier, uint256 most, uint256 former);

    /// @notice Ether came in by a plain transfer. It is owed to no node: the owner may send it back.
    event EtherReceived(address indexed sender, uint256 amount);

    /// @notice `amount` left for `to`; the node has withdrawn `withdrawnTotal` since its mint, this included.
    event Withdrawn(uint256 indexed nodeId, address indexed owner, address to, uint256 amount, uint256 withdrawnTotal);

    /// @notice Turns due at or after `from` and before `until` are not owed. A second event for one window ends it.
    event NotOwedSet(uint256 indexed window, uint256 from, uint256 until);

    /// @notice From here on the wallet takes nodes only by its own calls and by mints, or from everyone again.
    event GiftsDeclined(address indexed wallet, bool declined);

    event Paused();
    event Unpaused();

    /// @notice A key became the minter with this budget.
    event MinterSet(address indexed minter, address indexed former, uint256 nodes, uint256 cohorts);

    /// @notice The minter's budget after a refill, and before it.
    event MinterRefilled(
        address indexed minter, uint256 nodes, uint256 cohorts, uint256 formerNodes, uint256 formerCohorts
    );

    /// @notice A key became the distributor with these bounds.
    event DistributorSet(address indexed distributor, address indexed former, uint256 floorGwei, uint256 ceilingGwei);
    event BoundsSet(
        address indexed distributor,
        uint256 floorGwei,
        uint256 ceilingGwei,
        uint256 formerFloorGwei,
        uint256 formerCeilingGwei
    );
    event SwapsAllowanceSet(uint256 allowance, uint256 former);
    event Swept(address indexed to, uint256 amount);
    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

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
    /// @notice The role has changed hands: the key named does not hold it.
    error WrongKey();
    /// @notice The allowance would rise from another value than the one named.
    error WrongAllowance();
    /// @notice Opening, minting and crediting are paused.
    error IsPaused();
    /// @notice The block's time is later than the call's `validUntil`.
    error Expired();
    /// @notice The contract would have no owner.
    error ZeroOwner();
    /// @notice The cap on nodes per wallet lies outside 1..256.
    error CapOutOfRange();
    /// @notice A budget beyond 32 bits of nodes or 16 bits of cohorts.
    error BudgetOutOfRange();
    /// @notice A floor above its ceiling, or a ceiling beyond 48 bits of gwei.
    error BoundsOutOfRange();
    /// @notice A window of more than 7 days.
    error ExpulsionPeriodOutOfRange();
    /// @notice A tier above 65535, or a most that is above the former one or below the nodes that the tier has.
    error SupplyOutOfRange();
    /// @notice The guard block is not on this fork, or the chain no longer knows its hash.
    error StaleFork();
    /// @notice The opening does not begin with the next cohort number.
    error WrongCohort();
    /// @notice There are no cohort numbers left.
    error CohortNumbersExhausted();
    /// @notice The minter may not open that many cohorts.
    error CohortBudgetExceeded();
    /// @notice This cohort was never opened.
    error CohortNotOpen();
    /// @notice A tier above 65535, a first turn at 0 or beyond 40 bits, an interval below the least or beyond 32 bits.
    error ScheduleOutOfRange();
    /// @notice More than the pending turn lies in the past under the old or the new interval: pay what is owed first.
    error TurnsOverdue();
    /// @notice There are no node ids left.
    error NodeIdsExhausted();
    /// @notice The round is not the next one.
    error WrongRound();
    /// @notice A round must name at least one cohort.
    error EmptyRound();
    /// @notice A round names a cohort once.
    error CohortTwiceInRound();
    /// @notice The cohort has no nodes (or was never opened).
    error EmptyCohort();
    /// @notice The cohort's pending turn is not the one expected.
    error WrongTurn();
    /// @notice An entry of a round must pay or skip at least one turn.
    error NoTurns();
    /// @notice A round pays 2,000 turns at most.
    error TooManyTurns();
    /// @notice One of the turns lies ahead.
    error TurnNotDue();
    /// @notice One of the turns to be skipped lies outside every window of turns not owed.
    error TurnOwed();
    /// @notice The amount lies outside the distributor's bounds for that many turns.
    error AmountOutOfBounds();
    /// @notice An amount exceeds what the books can hold: 80 bits per node, 96 bits in all.
    error AmountTooLarge();
    /// @notice The ether sent is neither the round's exact total nor zero.
    error WrongValue();
    /// @notice The round would spend more surplus than the owner allowed.
    error AllowanceExceeded();
    /// @notice The window is not the one expected: the next to add, or the last to end.
    error WrongWindow();
    /// @notice A window that begins before the former one's end, ends before it begins, or ends beyond 40 bits.
    error WindowOutOfRange();
    /// @notice The amount exceeds the ether that is owed to no node.
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
    /// @notice The recipient declines nodes that it does not fetch itself.
    error GiftDeclined();
    /// @notice Transfers and approvals take no ether.
    error EtherRefused();

    // ------------------------------------------------------------------------------------------------------- minter

    /// @notice Opens cohorts numbered `first`, `first + 1` and so on, all or none; `first` must be the next number. Each
    /// has a tier, and turns at `firstDue`, `firstDue + interval` and so on. `firstDue` may lie in the past: a cohort
    /// without nodes cannot be paid, and its first mint moves the turn forward, so only the phase is kept.
    function openCohorts(uint256 first, CohortOpening[] calldata openings, uint256 validUntil) external;

    /// @notice Mints a node per order. An order whose ref was used is passed over, silently where its node is the
    /// recipient's; one that cannot be minted now is passed over with `MintSkipped`. Neither stops the others.
    /// @param guardBlock A block at or after everything the orders rest on.
    /// @param guardHash Its hash: on another fork the call reverts with `StaleFork`. Zero: no guard.
    function mint(Order[] calldata orders, uint256 guardBlock, bytes32 guardHash, uint256 validUntil) external;

    // -------------------------------------------------------------------------------------------------- distributor

    /// @notice Pays and skips turns of the cohorts named, in round `round`, which must be the next one. The value sent is
    /// the exact total, or zero to spend surplus within the allowance. An amount of zero is a turn like any.
    function credit(
        uint256 round,
        uint256 guardBlock,
        bytes32 guardHash,
        uint256 validUntil,
        CohortCredit[] calldata credits
    ) external payable;

    // ------------------------------------------------------------------------------------------------- node's owner

    /// @notice Sends `amount` of the node's balance to `to`. Never paused.
    function withdraw(uint256 id, address to, uint256 amount) external;

    /// @notice Sends the whole balances of the caller's nodes to `to` in one transfer. Nodes without a balance are
    /// passed over; a total of zero reverts. Never paused.
    function withdrawAll(uint256[] calldata ids, address to) external;

    /// @notice Whether the caller's wallet takes nodes only by its own calls and by mints from now on. A market delivers by
    /// a call of its own, so a wallet that declines gifts cannot be sold a node there.
    function declineGifts(bool declined) external;

    // --------------------------------------------------------------------------------------------- contract's owner

    /// @notice Changes the time between turns after the pending one. Never recounts turns that have passed.
    function setInterval(uint256 cohort, uint256 interval) external;

    /// @notice Moves the nodes of these refs into the closed cohort, also while a turn of theirs is due: those that were
    /// never credited at any time, those that were credited only within `expulsionPeriod`, or two intervals of their cohort if
    /// those are shorter, of their mint. What a node was credited stays its own. Refs without a node, of nodes that were
    /// credited and are older, and of nodes already expelled are passed over.
    function expel(bytes32[] calldata refs) external;

    /// @notice Sets how many nodes `tier` may ever have; nodes that were expelled do not count. It is never raised, and
    /// never below the nodes that the tier has.
    function capTier(uint256 tier, uint256 most) external;

    /// @notice Replaces the minter `former` at once, with a budget of its own. Zero: no key has the role, whoever has it now.
    function setMinter(address newMinter, address former, uint256 nodes, uint256 cohorts) external;

    /// @notice Adds to the budget of `minter`, which must be the present one, no further than up to each most.
    function refillMinter(address minter, uint256 nodes, uint256 nodesMost, uint256 cohorts, uint256 cohortsMost)
        external;

    /// @notice Replaces the distributor `former` at once, with bounds of its own. Zero: no key has the role, whoever has it
    /// now.
    function setDistributor(address newDistributor, address former, uint256 floorGwei, uint256 ceilingGwei) external;

    /// @notice Sets what `distributor`, which must be the present one, may pay a node for a turn.
    function setBounds(address distributor, uint256 floorGwei, uint256 ceilingGwei) external;

    /// @notice How much surplus rounds without value may spend from now on, by `distributor`, which must be the present
    /// one. To raise it takes its value at present, `former`; to lower it does not, since a round may change it any time.
    function setSwapsAllowance(address distributor, uint256 allowance, uint256 former) external;

    /// @notice Adds window number `window`, the next: turns due at or after `from` and before `until` are not owed. It
    /// begins no earlier than the former one ended. 2^40 - 1 is open-ended.
    function addNotOwed(uint256 window, uint256 from, uint256 until) external;

    /// @notice Ends window number `window`, the last, earlier: at `until`, or at the block's time where that is later, or
    /// at its own beginning where that is later still.
    function endNotOwed(uint256 window, uint256 until) external;

    /// @notice Sends ether that is owed to no node.
    function sweep(address to, uint256 amount) external;

    /// @notice Stops opening, minting and crediting; never withdrawing, never transfers.
    function pause() external;
    function unpause() external;

    /// @notice Names the next owner, who must accept. Zero takes an offer back.
    function transferOwnership(address newOwner) external;
    function acceptOwnership() external;

    // ------------------------------------------------------------------------------------------------------ reading

    /// @notice Ids of the wallet's nodes, in no particular order.
    function nodesOf(address wallet) external view returns (uint256[] memory ids);

    /// @notice A node's owner, balance, credited total, withdrawn total (wei since its mint), and cohort (0: expelled).
    /// Reverts with `TokenDoesNotExist` for an id that was never minted.
    function nodeInfo(uint256 id)
        external
        view
        returns (address nodeOwner, uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId);

    /// @notice The nodes among ids `firstId` to `firstId + count - 1`: shorter, even empty, where there are none.
    function nodesInfo(uint256 firstId, uint256 count) external view returns (NodeView[] memory nodes);

    /// @notice ERC-5646: a digest of all that can change about a node: owner, cohort, credited and withdrawn.
    function getStateFingerprint(uint256 id) external view returns (bytes32);

    /// @notice Id of the node minted for `ref`, 0 for none.
    function nodeOfRef(bytes32 ref) external view returns (uint256 id);

    /// @notice The highest node id; nodes are numbered from 1 without gaps, so this counts them too.
    function lastId() external view returns (uint256);

    /// @notice The highest cohort number; cohorts are numbered from 1 without gaps, so this counts them too.
    function lastCohort() external view returns (uint256);

    /// @notice What each node was credited since the opening, how many nodes there are, the turn owed next, the time
    /// between turns, and the tier. All zero (an interval never is, otherwise) for a cohort that was never opened.
    function cohort(uint256 id)
        external
        view
        returns (uint256 perNode, uint256 size, uint256 nextDue, uint256 interval, uint256 tier);

    /// @notice Number of the round booked last; the next one is this plus 1.
    function round() external view returns (uint256);

    /// @notice All that was ever credited, and all that was ever withdrawn.
    function creditedTotal() external view returns (uint256);
    function withdrawnTotal() external view returns (uint256);

    /// @notice What the contract owes: the sum of all balances.
    function outstanding() external view returns (uint256);

    /// @notice Whether the contract's ether covers what it owes.
    function isSolvent() external view returns (bool);

    /// @notice How many nodes the tier has, those that were expelled left out, and how many it may ever have: 2^32 - 1, as
    /// many as there are ids, where that was never set.
    function tierSupply(uint256 tier) external view returns (uint256 minted, uint256 most);

    /// @notice How many nodes the minter may still mint, and how many cohorts it may still open.
    function budget() external view returns (uint256 nodes, uint256 cohorts);

    /// @notice The least and the most that the distributor may credit a node for one turn.
    function bounds() external view returns (uint256 floorGwei, uint256 ceilingGwei);

    /// @notice How many windows of turns not owed there are, and one of them by its number from 1 (zeros: none).
    function notOwedCount() external view returns (uint256);
    function notOwed(uint256 window) external view returns (uint256 from, uint256 until);

    function declinesGifts(address wallet) external view returns (bool);
    function swapsAllowance() external view returns (uint256);
    function maxPerWallet() external view returns (uint256);
    function leastInterval() external view returns (uint256);
    function expulsionPeriod() external view returns (uint256);
    function paused() external view returns (bool);
    function owner() external view returns (address);
    function pendingOwner() external view returns (address);
    function minter() external view returns (address);
    function distributor() external view returns (address);

    /// @notice The hash of a block as the guards see it, zero where the chain no longer knows it.
    function hashOf(uint256 blockNumber) external view returns (bytes32);
}
