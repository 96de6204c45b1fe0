// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The public interface of the node factory, for services, wallets and explorers.
/// @notice Owns the names, meanings and errors of everything the factory offers beyond ERC-721. It must never hold
/// code. Nothing here may change once a factory is deployed, because the factory is immutable.
/// @dev Every number is a uint256 here, and packed inside the factory. Amounts are in wei unless a name ends in Gwei.
/// Times are Unix seconds of block time. `validUntil` is the last block time at which a call may be executed.
interface INodeFactory {
    // ------------------------------------------------------------------------------------------------------- inputs

    /// @notice The constructor's argument. `nodes` and `cohorts` are the minter's first budget. The bounds apply to one
    /// node and one turn. No cohort's interval may be shorter than `leastInterval`. A credited node may be expelled for
    /// at most `expulsionPeriod` after its mint.
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

    /// @notice One node to mint. `ref` identifies what it is minted for, such as a payment. A ref mints one node, ever.
    struct Order {
        address to;
        uint256 cohort;
        bytes32 ref;
    }

    /// @notice One cohort to open. Its position in the call gives its number.
    struct CohortOpening {
        uint256 tier;
        uint256 firstDue;
        uint256 interval;
    }

    /// @notice One cohort's entry in a round. From the pending turn `firstDue` on, it skips `skipped` turns that are
    /// not owed, then pays `paid` turns. Each node is credited `amountPerNode` for all paid turns together.
    struct CohortCredit {
        uint256 cohort;
        uint256 firstDue;
        uint256 skipped;
        uint256 paid;
        uint256 amountPerNode;
    }

    // ------------------------------------------------------------------------------------------------------ outputs

    /// @notice One node as `nodeInfo` returns it, plus its id, for reading many nodes in one call.
    struct NodeView {
        uint256 id;
        address owner;
        uint256 balance;
        uint256 credited;
        uint256 withdrawn;
        uint256 cohort;
    }

    // ------------------------------------------------------------------------------------------------------- events

    /// @notice A node was minted. If its cohort was empty and the pending turn had passed, this also moved `nextDue`
    /// forward by whole intervals to the first time after this block's. Readers can compute that, so no event reports
    /// it.
    event NodeMinted(uint256 indexed nodeId, address indexed owner, bytes32 indexed ref, uint256 cohort);

    /// @notice One order was skipped; the rest of its batch was not affected. Reasons: 1 the wallet is at its cap; 2
    /// the cohort was never opened or its turn is due; 3 the recipient is the zero address or this contract; 4 the
    /// minter's budget of nodes is spent; 5 the tier is at its cap.
    event MintSkipped(bytes32 indexed ref, uint256 reason);

    /// @notice An order for `to` was skipped because its ref already minted node `nodeId`, which another wallet owns.
    event RefTaken(bytes32 indexed ref, uint256 indexed nodeId, address indexed to);

    /// @notice A cohort was opened. Its turns are due at `firstDue`, then every `interval` seconds.
    event CohortOpened(uint256 indexed cohort, uint256 tier, uint256 firstDue, uint256 interval);

    /// @notice A cohort's interval changed. The pending turn keeps its time; later turns follow at the new interval.
    event IntervalSet(uint256 indexed cohort, uint256 interval, uint256 former);

    /// @notice A round skipped `turns` turns of a cohort, from the one due at `due` on, because they are not owed.
    event TurnsSkipped(uint256 indexed round, uint256 indexed cohort, uint256 due, uint256 turns);

    /// @notice A round paid `turns` turns of a cohort, from the one due at `due` on. Each of the cohort's `nodeCount`
    /// nodes was credited `amountPerNode` for all of these turns together.
    event Credited(
        uint256 indexed round,
        uint256 indexed cohort,
        uint256 due,
        uint256 turns,
        uint256 amountPerNode,
        uint256 nodeCount
    );

    /// @notice The round was paid from surplus; `allowance` is what remains of the allowance. A round without this
    /// event was paid with ether that the distributor sent.
    event SurplusSpent(uint256 indexed round, uint256 amount, uint256 allowance);

    /// @notice A node was moved from its cohort to the closed cohort, number 0. It keeps what it was credited and is
    /// credited nothing more. Its ref stays used. Its place in the tier is free again.
    event NodeExpelled(uint256 indexed nodeId, bytes32 indexed ref, uint256 indexed cohort, uint256 credited);

    /// @notice The tier's cap was lowered from `former` to `most` nodes.
    event TierCapped(uint256 indexed tier, uint256 most, uint256 former);

    /// @notice Ether arrived by a plain transfer. It is owed to no node, so the contract's owner can send it back.
    event EtherReceived(address indexed sender, uint256 amount);

    /// @notice A node's owner withdrew `amount` to `to`. `withdrawnTotal` is everything withdrawn from the node so far.
    event Withdrawn(uint256 indexed nodeId, address indexed owner, address to, uint256 amount, uint256 withdrawnTotal);

    /// @notice Turns due at or after `from` and before `until` are not owed. A second event for the same window ended
    /// it.
    event NotOwedSet(uint256 indexed window, uint256 from, uint256 until);

    /// @notice If `declined`, the wallet now accepts nodes only by mints and by its own calls; otherwise from anyone.
    event GiftsDeclined(address indexed wallet, bool declined);

    /// @notice Opening, minting and crediting stopped.
    event Paused();

    /// @notice Opening, minting and crediting resumed.
    event Unpaused();

    /// @notice `minter` replaced `former` and has this budget.
    event MinterSet(address indexed minter, address indexed former, uint256 nodes, uint256 cohorts);

    /// @notice The minter's budget was refilled: its values after and before.
    event MinterRefilled(
        address indexed minter, uint256 nodes, uint256 cohorts, uint256 formerNodes, uint256 formerCohorts
    );

    /// @notice `distributor` replaced `former` and has these bounds.
    event DistributorSet(address indexed distributor, address indexed former, uint256 floorGwei, uint256 ceilingGwei);

    /// @notice The distributor's bounds changed: their values after and before.
    event BoundsSet(
        address indexed distributor,
        uint256 floorGwei,
        uint256 ceilingGwei,
        uint256 formerFloorGwei,
        uint256 formerCeilingGwei
    );

    /// @notice The allowance of surplus for rounds changed from `former` to `allowance`.
    event SwapsAllowanceSet(uint256 allowance, uint256 former);

    /// @notice The contract's owner sent `amount` of surplus to `to`.
    event Swept(address indexed to, uint256 amount);

    /// @notice The contract's owner offered ownership to `newOwner`; zero withdraws an offer.
    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);

    /// @notice `newOwner` accepted ownership of the contract.
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
    /// @notice The caller does not own this node. An approved account may transfer a node but not withdraw from it.
    error NotNodeOwner();
    /// @notice The named key does not hold the role.
    error WrongKey();
    /// @notice The call would raise the allowance, and the current allowance is not the one it names.
    error WrongAllowance();
    /// @notice Opening, minting and crediting are paused.
    error IsPaused();
    /// @notice The block time is later than the call's `validUntil`.
    error Expired();
    /// @notice The contract would have no owner.
    error ZeroOwner();
    /// @notice The cap on nodes per wallet is not between 1 and 256.
    error CapOutOfRange();
    /// @notice The budget exceeds 32 bits of nodes or 16 bits of cohorts.
    error BudgetOutOfRange();
    /// @notice The floor is above the ceiling, or the ceiling exceeds 48 bits of gwei.
    error BoundsOutOfRange();
    /// @notice The expulsion period is longer than 7 days.
    error ExpulsionPeriodOutOfRange();
    /// @notice The tier is above 65535, or the cap would rise or fall below the tier's number of nodes.
    error SupplyOutOfRange();
    /// @notice The guard block is not on this fork, or the chain no longer knows its hash.
    error StaleFork();
    /// @notice The first opening does not have the next cohort number.
    error WrongCohort();
    /// @notice Too few cohort numbers are left.
    error CohortNumbersExhausted();
    /// @notice The minter's budget does not cover that many cohorts.
    error CohortBudgetExceeded();
    /// @notice The cohort was never opened.
    error CohortNotOpen();
    /// @notice The tier is above 65535, the first turn is 0 or exceeds 40 bits, or the interval is below the least
    /// interval or exceeds 32 bits.
    error ScheduleOutOfRange();
    /// @notice Under the current or the new interval, a turn after the pending one has already come due. Pay or skip
    /// the overdue turns first.
    error TurnsOverdue();
    /// @notice Too few node ids are left.
    error NodeIdsExhausted();
    /// @notice The round is not the next one.
    error WrongRound();
    /// @notice The round names no cohort.
    error EmptyRound();
    /// @notice The round names a cohort twice.
    error CohortTwiceInRound();
    /// @notice The cohort has no nodes, or was never opened.
    error EmptyCohort();
    /// @notice The cohort's pending turn is not the one the entry names.
    error WrongTurn();
    /// @notice The entry neither pays nor skips a turn.
    error NoTurns();
    /// @notice The round pays more than 2,000 turns.
    error TooManyTurns();
    /// @notice One of the turns is not due yet.
    error TurnNotDue();
    /// @notice The turns to skip do not all lie in one window of turns that are not owed.
    error TurnOwed();
    /// @notice The amount is outside the distributor's bounds for that many turns.
    error AmountOutOfBounds();
    /// @notice The total would exceed 80 bits for a node or 96 bits for all nodes.
    error AmountTooLarge();
    /// @notice The ether sent is neither the round's exact total nor zero.
    error WrongValue();
    /// @notice The round would spend more surplus than the allowance.
    error AllowanceExceeded();
    /// @notice The window's number is not the expected one: the next to add, or the last to end.
    error WrongWindow();
    /// @notice The window would start before the previous one ends, be empty, or end beyond 40 bits; or the new end
    /// would not be earlier.
    error WindowOutOfRange();
    /// @notice The amount exceeds the surplus, which is the ether owed to no node.
    error SurplusExceeded();
    /// @notice The amount exceeds the node's balance.
    error BalanceExceeded();
    /// @notice The amount is zero.
    error ZeroAmount();
    /// @notice The recipient is the zero address or this contract.
    error ImpossibleRecipient();
    /// @notice The recipient rejected the ether.
    error SendFailed();
    /// @notice The recipient already holds as many nodes as a wallet may.
    error WalletFull();
    /// @notice The recipient declines gifts, and is not the caller.
    error GiftDeclined();
    /// @notice Transfers and approvals accept no ether.
    error EtherRefused();

    // ------------------------------------------------------------------------------------------------------- minter

    /// @notice Opens cohorts numbered `first`, `first + 1` and so on: all of them or none. `first` must be the next
    /// number. A cohort's turns are due at `firstDue`, then every `interval` seconds. `firstDue` may be in the past: a
    /// cohort without nodes cannot be paid, and its first mint moves the pending turn forward by whole intervals.
    function openCohorts(uint256 first, CohortOpening[] calldata openings, uint256 validUntil) external;

    /// @notice Mints one node per order. An order that cannot be minted is skipped with `MintSkipped`, and does not
    /// stop the others. An order whose ref is already used is skipped silently if the recipient owns that ref's node,
    /// and with `RefTaken` otherwise.
    /// @param guardBlock A block at or after everything that the orders rest on.
    /// @param guardHash That block's hash. On a fork without it the call reverts with `StaleFork`. Zero means no guard.
    function mint(Order[] calldata orders, uint256 guardBlock, bytes32 guardHash, uint256 validUntil) external;

    // -------------------------------------------------------------------------------------------------- distributor

    /// @notice Pays and skips turns of the named cohorts in round `round`, which must be the next one. The ether sent
    /// must be the exact total, or zero to spend surplus within the allowance. If the floor is zero, a turn may be paid
    /// zero.
    /// @param guardBlock A block at or after everything that the round rests on.
    /// @param guardHash That block's hash. On a fork without it the call reverts with `StaleFork`. Zero means no guard.
    function credit(
        uint256 round,
        uint256 guardBlock,
        bytes32 guardHash,
        uint256 validUntil,
        CohortCredit[] calldata credits
    ) external payable;

    // ------------------------------------------------------------------------------------------------- node's owner

    /// @notice Sends `amount` of the node's balance to `to`. Cannot be paused.
    function withdraw(uint256 id, address to, uint256 amount) external;

    /// @notice Sends the whole balances of the caller's nodes to `to` in one transfer. Nodes without a balance are
    /// skipped; a total of zero reverts. Cannot be paused.
    function withdrawAll(uint256[] calldata ids, address to) external;

    /// @notice Sets whether the caller's wallet accepts nodes only by mints and by its own calls. A market delivers a
    /// node by a call of the market's, so a wallet that declines gifts cannot receive a node it bought there.
    function declineGifts(bool declined) external;

    // --------------------------------------------------------------------------------------------- contract's owner

    /// @notice Sets a cohort's interval. The pending turn keeps its time. Reverts with `TurnsOverdue` if the change
    /// would drop or invent a turn that has come due.
    function setInterval(uint256 cohort, uint256 interval) external;

    /// @notice Moves the nodes of these refs to the closed cohort, even while their turn is due. A node that was never
    /// credited can be expelled at any time. A credited node can be expelled only within `expulsionPeriod` of its mint,
    /// or within two intervals of its cohort if that is shorter. Either keeps what it was credited. Refs of any other
    /// node, and refs without a node, are skipped.
    function expel(bytes32[] calldata refs) external;

    /// @notice Lowers the cap of `tier` to `most` nodes. Expelled nodes do not count. A cap never rises, and is never
    /// below the tier's number of nodes.
    function capTier(uint256 tier, uint256 most) external;

    /// @notice Replaces the minter `former`, and sets the new minter's budget. If `newMinter` is zero, nobody is the
    /// minter from then on, and `former` is not checked.
    function setMinter(address newMinter, address former, uint256 nodes, uint256 cohorts) external;

    /// @notice Adds to the budget of `minter`, which must be the current minter. `nodesMost` and `cohortsMost` limit
    /// what the budget may be afterwards; a budget above its limit stays as it is.
    function refillMinter(address minter, uint256 nodes, uint256 nodesMost, uint256 cohorts, uint256 cohortsMost)
        external;

    /// @notice Replaces the distributor `former`, and sets the new distributor's bounds. If `newDistributor` is zero,
    /// nobody is the distributor from then on, and `former` is not checked.
    function setDistributor(address newDistributor, address former, uint256 floorGwei, uint256 ceilingGwei) external;

    /// @notice Sets the least and the most that `distributor`, which must be the current one, may credit a node for one
    /// turn.
    function setBounds(address distributor, uint256 floorGwei, uint256 ceilingGwei) external;

    /// @notice Sets how much surplus `distributor`, which must be the current one, may spend on rounds that send no
    /// ether. Raising the allowance requires `former` to be its current value. Lowering it does not, because a round
    /// may change the value at any time.
    function setSwapsAllowance(address distributor, uint256 allowance, uint256 former) external;

    /// @notice Adds window number `window`, which must be the next: turns due at or after `from` and before `until` are
    /// not owed. The window must not start before the previous one ends. `until` may be 2^40 - 1, which no turn
    /// reaches.
    function addNotOwed(uint256 window, uint256 from, uint256 until) external;

    /// @notice Ends window number `window`, which must be the last, at an earlier time: the latest of `until`, the
    /// block time and the window's start.
    function endNotOwed(uint256 window, uint256 until) external;

    /// @notice Sends surplus, which is the ether owed to no node, to `to`.
    function sweep(address to, uint256 amount) external;

    /// @notice Stops opening, minting and crediting. Withdrawals and transfers cannot be paused.
    function pause() external;

    /// @notice Resumes opening, minting and crediting.
    function unpause() external;

    /// @notice Offers ownership to `newOwner`, who must accept it. Zero withdraws the offer.
    function transferOwnership(address newOwner) external;

    /// @notice Accepts the ownership that was offered to the caller.
    function acceptOwnership() external;

    // ------------------------------------------------------------------------------------------------------ reading

    /// @notice The ids of the wallet's nodes, in no particular order.
    function nodesOf(address wallet) external view returns (uint256[] memory ids);

    /// @notice A node's owner, balance, total credited, total withdrawn, and cohort (0 if it was expelled). Reverts
    /// with `TokenDoesNotExist` if the id was never minted.
    function nodeInfo(uint256 id)
        external
        view
        returns (address nodeOwner, uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId);

    /// @notice The nodes with ids from `firstId` to `firstId + count - 1`. Ids that were never minted are left out.
    function nodesInfo(uint256 firstId, uint256 count) external view returns (NodeView[] memory nodes);

    /// @notice A digest of everything that can change about a node: owner, cohort, credited and withdrawn (ERC-5646).
    function getStateFingerprint(uint256 id) external view returns (bytes32);

    /// @notice The id of the node that was minted for `ref`, or 0 if there is none.
    function nodeOfRef(bytes32 ref) external view returns (uint256 id);

    /// @notice The highest node id, which is also the number of nodes ever minted: ids start at 1 and have no gaps.
    function lastId() external view returns (uint256);

    /// @notice The highest cohort number, which is also the number of cohorts: numbers start at 1 and have no gaps.
    function lastCohort() external view returns (uint256);

    /// @notice What each node was credited since the cohort opened, the number of nodes, the time of the pending turn,
    /// the interval, and the tier. All are zero if the cohort was never opened; an open cohort's interval never is.
    function cohort(uint256 id)
        external
        view
        returns (uint256 perNode, uint256 size, uint256 nextDue, uint256 interval, uint256 tier);

    /// @notice The number of the last round. The next one is this plus 1.
    function round() external view returns (uint256);

    /// @notice The total of everything ever credited.
    function creditedTotal() external view returns (uint256);

    /// @notice The total of everything ever withdrawn.
    function withdrawnTotal() external view returns (uint256);

    /// @notice What the contract owes: the sum of all balances.
    function outstanding() external view returns (uint256);

    /// @notice Whether the contract's ether covers what it owes.
    function isSolvent() external view returns (bool);

    /// @notice How many nodes the tier has, without expelled ones, and its cap. The cap is 2^32 - 1, as many as there
    /// are ids, until it is first lowered.
    function tierSupply(uint256 tier) external view returns (uint256 minted, uint256 most);

    /// @notice How many more nodes the minter may mint, and how many more cohorts it may open.
    function budget() external view returns (uint256 nodes, uint256 cohorts);

    /// @notice The least and the most that the distributor may credit a node for one turn.
    function bounds() external view returns (uint256 floorGwei, uint256 ceilingGwei);

    /// @notice The number of windows of turns that are not owed.
    function notOwedCount() external view returns (uint256);

    /// @notice A window of turns that are not owed, by its number from 1 on. Zeros if there is no such window.
    function notOwed(uint256 window) external view returns (uint256 from, uint256 until);

    /// @notice Whether the wallet accepts nodes only by mints and by its own calls.
    function declinesGifts(address wallet) external view returns (bool);

    /// @notice How much surplus the distributor may still spend on rounds that send no ether.
    function swapsAllowance() external view returns (uint256);

    /// @notice The most nodes that a wallet may hold.
    function maxPerWallet() external view returns (uint256);

    /// @notice The shortest interval that a cohort may have, in seconds.
    function leastInterval() external view returns (uint256);

    /// @notice The longest time after its mint, in seconds, within which a credited node may be expelled.
    function expulsionPeriod() external view returns (uint256);

    /// @notice Whether opening, minting and crediting are paused.
    function paused() external view returns (bool);

    /// @notice The contract's owner.
    function owner() external view returns (address);

    /// @notice The account to which ownership is offered, or zero.
    function pendingOwner() external view returns (address);

    /// @notice The key that may open cohorts and mint nodes, or zero.
    function minter() external view returns (address);

    /// @notice The key that may credit rounds, or zero.
    function distributor() external view returns (address);

    /// @notice The block's hash as the guards see it, or zero if the chain no longer knows it.
    function hashOf(uint256 blockNumber) external view returns (bytes32);
}
