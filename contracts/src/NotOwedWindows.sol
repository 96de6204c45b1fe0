// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {INodeFactory} from "./INodeFactory.sol";
import {TwoStepOwner} from "./TwoStepOwner.sol";

/// @notice Owns which turns are not owed: those in windows of time that the contract's owner sets. It must never let a
/// window grow, or shrink over a time that has passed: once a turn has come due, whether it is owed is final.
/// @dev Windows are only added, in order of time and without overlap, so none is ever replaced and no cohort has to be
/// checked. They are read only when a round skips turns.
abstract contract NotOwedWindows is TwoStepOwner {
    struct Window {
        uint40 from;
        uint40 until;
    }

    Window[] private _windows;

    /// @inheritdoc INodeFactory
    function addNotOwed(uint256 window, uint256 from, uint256 until) external onlyOwner {
        uint256 count = _windows.length;
        if (window != count + 1) revert WrongWindow();
        if (from >= until || until > type(uint40).max) revert WindowOutOfRange();
        if (count != 0 && from < _windows[count - 1].until) revert WindowOutOfRange();
        _windows.push(Window(uint40(from), uint40(until)));
        emit NotOwedSet(window, from, until);
    }

    /// @inheritdoc INodeFactory
    function endNotOwed(uint256 window, uint256 until) external onlyOwner {
        if (window == 0 || window != _windows.length) revert WrongWindow();
        Window storage last = _windows[window - 1];
        if (until < block.timestamp) until = block.timestamp;
        if (until < last.from) until = last.from;
        if (until >= last.until) revert WindowOutOfRange();
        last.until = uint40(until);
        emit NotOwedSet(window, last.from, until);
    }

    /// @inheritdoc INodeFactory
    function notOwedCount() external view returns (uint256) {
        return _windows.length;
    }

    /// @inheritdoc INodeFactory
    function notOwed(uint256 window) external view returns (uint256 from, uint256 until) {
        if (window == 0 || window > _windows.length) return (0, 0);
        return (_windows[window - 1].from, _windows[window - 1].until);
    }

    /// @dev Succeeds if one window holds both times. Starts with the newest, because the owner has added few since.
    function _requireNotOwed(uint256 first, uint256 last) internal view {
        for (uint256 i = _windows.length; i != 0; --i) {
            Window storage window = _windows[i - 1];
            if (window.from <= first && last < window.until) return;
        }
        revert TurnOwed();
    }
}
