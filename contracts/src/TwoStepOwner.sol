// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {INodeFactory} from "./INodeFactory.sol";

/// @notice Owns who the contract's owner is and how that changes: by an offer and its acceptance, so that a mistyped
/// address cannot take the contract. It must never leave the contract without an owner.
abstract contract TwoStepOwner is INodeFactory {
    address private _owner;
    address private _pendingOwner;

    constructor(address owner_) {
        if (owner_ == address(0)) revert ZeroOwner();
        _owner = owner_;
        emit OwnershipTransferred(address(0), owner_);
    }

    modifier onlyOwner() {
        if (msg.sender != _owner) revert NotOwner();
        _;
    }

    /// @inheritdoc INodeFactory
    function owner() external view returns (address) {
        return _owner;
    }

    /// @inheritdoc INodeFactory
    function pendingOwner() external view returns (address) {
        return _pendingOwner;
    }

    /// @inheritdoc INodeFactory
    function transferOwnership(address newOwner) external onlyOwner {
        _pendingOwner = newOwner;
        emit OwnershipTransferStarted(msg.sender, newOwner);
    }

    /// @inheritdoc INodeFactory
    function acceptOwnership() external {
        if (msg.sender != _pendingOwner) revert NotPendingOwner();
        emit OwnershipTransferred(_owner, msg.sender);
        _owner = msg.sender;
        delete _pendingOwner;
    }
}
