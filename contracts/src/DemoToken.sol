// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "solady/tokens/ERC20.sol";

/// @notice A token to hold on the embedded chain, where a tier may ask for one. The whole supply goes to the deployer.
/// It must never be deployed, or asked for, anywhere else: it is worth nothing.
contract DemoToken is ERC20 {
    uint256 private constant SUPPLY = 1_000_000 ether;

    constructor() {
        _mint(msg.sender, SUPPLY);
    }

    function name() public pure override returns (string memory) {
        return "Demo Token";
    }

    function symbol() public pure override returns (string memory) {
        return "DEMO";
    }
}
