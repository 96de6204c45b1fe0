// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Base64} from "solady/utils/Base64.sol";

/// @notice Owns how wallets and markets show a node: its figures, and a picture drawn from them. It must never show a
/// rounded amount, because buyers decide by it. None of its text comes from outside, so nothing needs escaping.
library NodeMetadata {
    struct Facts {
        uint256 id;
        uint256 balance;
        uint256 credited;
        uint256 withdrawn;
        uint256 cohortId;
        uint256 tier;
    }

    function uri(Facts memory node) internal pure returns (string memory) {
        string memory balance = _ether(node.balance);
        string memory json = string.concat(
            '{"name":"Node ',
            _decimal(node.id),
            '","description":"A node and the ether it holds. The owner of the node may withdraw its balance at any time.",',
            '"image":"data:image/svg+xml;base64,',
            Base64.encode(bytes(_picture(node, balance))),
            '","attributes":[',
            _trait("Balance", balance),
            ",",
            _trait("Credited", _ether(node.credited)),
            ",",
            _trait("Withdrawn", _ether(node.withdrawn)),
            ",",
            node.cohortId == 0 ? _trait("Cohort", "closed") : _cohortTraits(node),
            "]}"
        );
        return string.concat("data:application/json;base64,", Base64.encode(bytes(json)));
    }

    /// @dev An exact amount of ether in decimals, without trailing zeros.
    function _ether(uint256 amountWei) private pure returns (string memory) {
        string memory whole = _decimal(amountWei / 1 ether);
        uint256 rest = amountWei % 1 ether;
        if (rest == 0) return whole;
        // A leading one keeps the zeros after the decimal point.
        rest += 1 ether;
        while (rest % 10 == 0) {
            rest /= 10;
        }
        bytes memory fraction = bytes(_decimal(rest));
        fraction[0] = ".";
        return string.concat(whole, string(fraction));
    }

    function _decimal(uint256 value) private pure returns (string memory) {
        uint256 length = 1;
        for (uint256 rest = value; rest > 9; rest /= 10) {
            ++length;
        }
        bytes memory digits = new bytes(length);
        for (; length != 0; value /= 10) {
            digits[--length] = bytes1(uint8(48 + value % 10));
        }
        return string(digits);
    }

    function _cohortTraits(Facts memory node) private pure returns (string memory) {
        return string.concat(_trait("Cohort", _decimal(node.cohortId)), ",", _trait("Tier", _decimal(node.tier)));
    }

    function _trait(string memory kind, string memory value) private pure returns (string memory) {
        return string.concat('{"trait_type":"', kind, '","value":"', value, '"}');
    }

    /// @dev A card whose hue comes from the id, so that neighbours differ.
    function _picture(Facts memory node, string memory balance) private pure returns (string memory) {
        return string.concat(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" font-family="monospace" fill="#fff">',
            '<rect width="400" height="400" fill="hsl(',
            _decimal((node.id * 137) % 360),
            ',45%,28%)"/><circle cx="200" cy="150" r="72" fill="none" stroke="#fff" stroke-width="6"/>',
            '<text x="200" y="162" font-size="32" text-anchor="middle">',
            _decimal(node.id),
            '</text><text x="200" y="290" font-size="18" text-anchor="middle">',
            balance,
            ' ETH</text><text x="200" y="330" font-size="16" text-anchor="middle">',
            node.cohortId == 0 ? "expelled" : string.concat("tier ", _decimal(node.tier)),
            "</text></svg>"
        );
    }
}
