// SPDX-License-Identifier: MIT
// Two common ways to pay holders, to compare their gas per node with a round of ours. Both touch each node.
pragma solidity ^0.8.28;

/// @notice Sends ether to each recipient, as Disperse.app does: one `transfer` each, then it returns the rest
/// (https://etherscan.io/address/0xD152f549545093347A162Dce210e7293f1452150#code).
contract Disperse {
    function disperseEther(address payable[] calldata recipients, uint256[] calldata values) external payable {
        for (uint256 i = 0; i < recipients.length; i++) {
            recipients[i].transfer(values[i]);
        }
        uint256 rest = address(this).balance;
        if (rest > 0) payable(msg.sender).transfer(rest);
    }
}

/// @notice Credits an amount to each node, one after the other.
contract PerNode {
    mapping(uint256 nodeId => uint256) public credited;

    function credit(uint256 firstId, uint256 count, uint256 amount) external payable {
        for (uint256 id = firstId; id < firstId + count; id++) {
            credited[id] += amount;
        }
    }
}
