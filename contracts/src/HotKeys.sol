// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {INodeFactory} from "./INodeFactory.sol";
import {DistributorWord, DistributorWords, MinterWord} from "./PackedKeys.sol";
import {TwoStepOwner} from "./TwoStepOwner.sol";

/// @notice Owns who the minter and the distributor are, and what limits a stolen key: the minter's budget of nodes and
/// cohorts, the distributor's bounds and its allowance of surplus. It must never let a hot key widen its own limits.
abstract contract HotKeys is TwoStepOwner {
    MinterWord internal _minter;
    DistributorWord internal _distributor;
    /// @inheritdoc INodeFactory
    uint256 public swapsAllowance;

    constructor(Setup memory setup) {
        _setMinter(setup.minter, setup.nodes, setup.cohorts);
        _setDistributor(setup.distributor, setup.floorGwei, setup.ceilingGwei);
    }

    modifier onlyMinter() {
        if (msg.sender != _minter.key()) revert NotMinter();
        _;
    }

    // --------------------------------------------------------------------------------------------- contract's owner

    /// @inheritdoc INodeFactory
    function setMinter(address newMinter, address former, uint256 nodes, uint256 cohorts) external onlyOwner {
        if (newMinter != address(0) && former != _minter.key()) revert WrongKey();
        _setMinter(newMinter, nodes, cohorts);
    }

    /// @inheritdoc INodeFactory
    function refillMinter(address minter_, uint256 nodes, uint256 nodesMost, uint256 cohorts, uint256 cohortsMost)
        external
        onlyOwner
    {
        MinterWord word = _minter;
        if (minter_ != word.key()) revert WrongKey();
        _requireBudget(nodesMost, cohortsMost);
        (uint256 formerNodes, uint256 formerCohorts) = (word.nodes(), word.cohorts());
        nodes = _refilled(formerNodes, nodes, nodesMost);
        cohorts = _refilled(formerCohorts, cohorts, cohortsMost);
        _minter = word.heldBy(minter_, nodes, cohorts);
        emit MinterRefilled(minter_, nodes, cohorts, formerNodes, formerCohorts);
    }

    /// @inheritdoc INodeFactory
    function setDistributor(address newDistributor, address former, uint256 floorGwei, uint256 ceilingGwei)
        external
        onlyOwner
    {
        if (newDistributor != address(0) && former != _distributor.key()) revert WrongKey();
        _setDistributor(newDistributor, floorGwei, ceilingGwei);
    }

    /// @inheritdoc INodeFactory
    function setBounds(address distributor_, uint256 floorGwei, uint256 ceilingGwei) external onlyOwner {
        DistributorWord former = _distributor;
        if (distributor_ != former.key()) revert WrongKey();
        _requireBounds(floorGwei, ceilingGwei);
        _distributor = DistributorWords.packed(distributor_, floorGwei, ceilingGwei);
        emit BoundsSet(distributor_, floorGwei, ceilingGwei, former.floorGwei(), former.ceilingGwei());
    }

    /// @inheritdoc INodeFactory
    function setSwapsAllowance(address distributor_, uint256 allowance, uint256 former) external onlyOwner {
        if (distributor_ != _distributor.key()) revert WrongKey();
        uint256 current = swapsAllowance;
        if (allowance > current && former != current) revert WrongAllowance();
        emit SwapsAllowanceSet(allowance, current);
        swapsAllowance = allowance;
    }

    // ------------------------------------------------------------------------------------------------------ reading

    /// @inheritdoc INodeFactory
    function minter() external view returns (address) {
        return _minter.key();
    }

    /// @inheritdoc INodeFactory
    function budget() external view returns (uint256 nodes, uint256 cohorts) {
        return (_minter.nodes(), _minter.cohorts());
    }

    /// @inheritdoc INodeFactory
    function lastId() external view returns (uint256) {
        return _minter.lastId();
    }

    /// @inheritdoc INodeFactory
    function lastCohort() external view returns (uint256) {
        return _minter.lastCohort();
    }

    /// @inheritdoc INodeFactory
    function distributor() external view returns (address) {
        return _distributor.key();
    }

    /// @inheritdoc INodeFactory
    function bounds() external view returns (uint256 floorGwei, uint256 ceilingGwei) {
        return (_distributor.floorGwei(), _distributor.ceilingGwei());
    }

    // ------------------------------------------------------------------------------------------------------- inside

    function _setMinter(address newMinter, uint256 nodes, uint256 cohorts) private {
        _requireBudget(nodes, cohorts);
        MinterWord word = _minter;
        _minter = word.heldBy(newMinter, nodes, cohorts);
        emit MinterSet(newMinter, word.key(), nodes, cohorts);
    }

    function _setDistributor(address newDistributor, uint256 floorGwei, uint256 ceilingGwei) private {
        _requireBounds(floorGwei, ceilingGwei);
        emit DistributorSet(newDistributor, _distributor.key(), floorGwei, ceilingGwei);
        _distributor = DistributorWords.packed(newDistributor, floorGwei, ceilingGwei);
    }

    function _requireBudget(uint256 nodes, uint256 cohorts) private pure {
        if (nodes > type(uint32).max || cohorts > type(uint16).max) revert BudgetOutOfRange();
    }

    function _requireBounds(uint256 floorGwei, uint256 ceilingGwei) private pure {
        if (floorGwei > ceilingGwei || ceilingGwei > type(uint48).max) revert BoundsOutOfRange();
    }

    /// @dev Adds `more` to `left` up to `most`, and never returns less than `left`. So a refill that is executed late,
    /// or twice, leaves no more than its signers read.
    function _refilled(uint256 left, uint256 more, uint256 most) private pure returns (uint256) {
        uint256 room = most > left ? most - left : 0;
        return left + (more < room ? more : room);
    }
}
