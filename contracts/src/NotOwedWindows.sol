// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {INodeFactory} from "./INodeFactory.sol";
import {TwoStepOwner} from "./TwoStepOwner.sol";

/// @notice Owns which turns are not owed: windows of time that the contract's owner has set. It must never let a window
/// shrink over a time that has passed, nor grow: what was said of a turn that is due stays said.
/// @dev Windows are only ever added, in the order of time and without overlap, so none has to be replaced and no cohort
/// has to be looked at. They are read only when a round skips turns.
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

    /// @dev Succeeds when one window holds both times. The newest come first: there are few that the owner has added since.
    function _requireNotOwed(uint256 first, uint256 last) internal view {
        for (uint256 i = _windows.length; i != 0; --i) {
            Window storage window = _windows[i - 1];
            if (window.from <= first && last < window.until) return;
        }
        revert TurnOwed();
    }
}
