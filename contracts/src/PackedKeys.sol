// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// Owns how each hot key is packed into one slot with its limits. It must never check a rule: the caller makes sure that
// a value fits its field, by the rule named beside the field.

/// @dev 256 bits, from the lowest. A mint reads and writes it once:
///
///     key         160
///     lastId       32   NodeIdsExhausted keeps it there
///     nodes        32   may still be minted; BudgetOutOfRange
///     cohorts      16   may still be opened; BudgetOutOfRange
///     lastCohort   16   CohortNumbersExhausted keeps it there
type MinterWord is uint256;

/// @dev 256 bits, from the lowest. A round reads it once and never writes it:
///
///     key         160
///     floor        48   gwei per node and turn; BoundsOutOfRange
///     ceiling      48   gwei per node and turn, no less than the floor; BoundsOutOfRange
type DistributorWord is uint256;

using MinterWords for MinterWord global;
using DistributorWords for DistributorWord global;

library MinterWords {
    uint256 private constant LAST_ID = 160;
    uint256 private constant NODES = 192;
    uint256 private constant COHORTS = 224;
    uint256 private constant LAST_COHORT = 240;

    function key(MinterWord word) internal pure returns (address) {
        return address(uint160(MinterWord.unwrap(word)));
    }

    function lastId(MinterWord word) internal pure returns (uint256) {
        return uint32(MinterWord.unwrap(word) >> LAST_ID);
    }

    function nodes(MinterWord word) internal pure returns (uint256) {
        return uint32(MinterWord.unwrap(word) >> NODES);
    }

    function cohorts(MinterWord word) internal pure returns (uint256) {
        return uint16(MinterWord.unwrap(word) >> COHORTS);
    }

    function lastCohort(MinterWord word) internal pure returns (uint256) {
        return MinterWord.unwrap(word) >> LAST_COHORT;
    }

    /// @dev Counts `count` new nodes, and takes them out of the budget.
    function minted(MinterWord word, uint256 count) internal pure returns (MinterWord) {
        unchecked {
            return MinterWord.wrap(MinterWord.unwrap(word) + (count << LAST_ID) - (count << NODES));
        }
    }

    /// @dev Counts `count` new cohorts, and takes them out of the budget.
    function opened(MinterWord word, uint256 count) internal pure returns (MinterWord) {
        unchecked {
            return MinterWord.wrap(MinterWord.unwrap(word) + (count << LAST_COHORT) - (count << COHORTS));
        }
    }

    /// @dev Sets another key and budget; the counts stay.
    function heldBy(MinterWord word, address key_, uint256 nodes_, uint256 cohorts_)
        internal
        pure
        returns (MinterWord)
    {
        return MinterWord.wrap(
            uint160(key_) | (word.lastId() << LAST_ID) | (nodes_ << NODES) | (cohorts_ << COHORTS)
                | (word.lastCohort() << LAST_COHORT)
        );
    }
}

library DistributorWords {
    uint256 private constant FLOOR = 160;
    uint256 private constant CEILING = 208;

    function packed(address key_, uint256 floorGwei_, uint256 ceilingGwei_) internal pure returns (DistributorWord) {
        return DistributorWord.wrap(uint160(key_) | (floorGwei_ << FLOOR) | (ceilingGwei_ << CEILING));
    }

    function key(DistributorWord word) internal pure returns (address) {
        return address(uint160(DistributorWord.unwrap(word)));
    }

    function floorGwei(DistributorWord word) internal pure returns (uint256) {
        return uint48(DistributorWord.unwrap(word) >> FLOOR);
    }

    function ceilingGwei(DistributorWord word) internal pure returns (uint256) {
        return DistributorWord.unwrap(word) >> CEILING;
    }
}
