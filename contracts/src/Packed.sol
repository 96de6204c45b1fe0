// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// Owns how a cohort, the books, a ref's use and a tier's supply are packed into one slot each, and how they may change.
// It must never check a rule: the caller makes sure that a value fits its field, by the rule named beside the field.
// Packed by hand, because the compiler reads and writes a struct field by field, which is expensive in a mint.

/// @dev 248 bits, from the lowest:
///
///     perNode     80   wei credited to each node since the opening; AmountTooLarge keeps it below 2^80
///     size        32   nodes; there are fewer than 2^32 ids
///     nextDue     40   the pending turn; it only moves from a time that has come, by less than 2^33
///     interval    32   seconds between turns; never 0 once opened, so a zero word means never opened
///     tier        16
///     lastRound   48   the last round that moved it; prevents a second entry in one round, in a slot written anyway
type Cohort is uint256;

/// @dev 241 bits, all that a round needs besides its cohorts. With two totals that only grow, instead of their
/// difference, a follower notices a missed credit and a missed withdrawal separately:
///
///     credited    96   AmountTooLarge keeps it below 2^96
///     withdrawn   96   never exceeds credited
///     round       48   grows by one at a time
///     paused       1
type Books is uint256;

/// @dev 72 bits: what a ref was used for:
///
///     id          32   the node; there are fewer than 2^32 ids
///     mintedAt    40   the block time of the mint
type Use is uint256;

/// @dev 64 bits: a tier's supply:
///
///     minted      32   nodes, without expelled ones; at most as many as there are ids
///     withheld    32   2^32 - 1 minus the cap; 0 until the cap is first lowered
type Supply is uint256;

using Cohorts for Cohort global;
using Uses for Use global;
using Supplies for Supply global;
using BooksLib for Books global;

library Cohorts {
    uint256 private constant SIZE = 80;
    uint256 private constant NEXT_DUE = 112;
    uint256 private constant INTERVAL = 152;
    uint256 private constant TIER = 184;
    uint256 private constant LAST_ROUND = 200;

    function opened(uint256 tier_, uint256 firstDue, uint256 interval_) internal pure returns (Cohort) {
        return Cohort.wrap((firstDue << NEXT_DUE) | (interval_ << INTERVAL) | (tier_ << TIER));
    }

    function isOpen(Cohort cohort) internal pure returns (bool) {
        return Cohort.unwrap(cohort) != 0;
    }

    function perNode(Cohort cohort) internal pure returns (uint256) {
        return uint80(Cohort.unwrap(cohort));
    }

    function size(Cohort cohort) internal pure returns (uint256) {
        return uint32(Cohort.unwrap(cohort) >> SIZE);
    }

    function nextDue(Cohort cohort) internal pure returns (uint256) {
        return uint40(Cohort.unwrap(cohort) >> NEXT_DUE);
    }

    function interval(Cohort cohort) internal pure returns (uint256) {
        return uint32(Cohort.unwrap(cohort) >> INTERVAL);
    }

    function tier(Cohort cohort) internal pure returns (uint256) {
        return uint16(Cohort.unwrap(cohort) >> TIER);
    }

    function lastRound(Cohort cohort) internal pure returns (uint256) {
        return Cohort.unwrap(cohort) >> LAST_ROUND;
    }

    /// @dev Adds a node.
    function joined(Cohort cohort) internal pure returns (Cohort) {
        return Cohort.wrap(Cohort.unwrap(cohort) + (1 << SIZE));
    }

    /// @dev Removes a node from at least one.
    function left(Cohort cohort) internal pure returns (Cohort) {
        return Cohort.wrap(Cohort.unwrap(cohort) - (1 << SIZE));
    }

    /// @dev Moves the pending turn on by `delay`.
    function postponed(Cohort cohort, uint256 delay) internal pure returns (Cohort) {
        return Cohort.wrap(Cohort.unwrap(cohort) + (delay << NEXT_DUE));
    }

    /// @dev Credits each node `amount` and moves the pending turn on by `delay`, in `round`, which is later than the
    /// last.
    function credited(Cohort cohort, uint256 amount, uint256 delay, uint256 round) internal pure returns (Cohort) {
        unchecked {
            uint256 roundsSince = round - cohort.lastRound();
            return Cohort.wrap(Cohort.unwrap(cohort) + amount + (delay << NEXT_DUE) + (roundsSince << LAST_ROUND));
        }
    }

    function withInterval(Cohort cohort, uint256 interval_) internal pure returns (Cohort) {
        uint256 others = Cohort.unwrap(cohort) & ~(uint256(type(uint32).max) << INTERVAL);
        return Cohort.wrap(others | (interval_ << INTERVAL));
    }
}

library BooksLib {
    uint256 private constant WITHDRAWN = 96;
    uint256 private constant ROUND = 192;
    uint256 private constant PAUSED = 240;

    function credited(Books books) internal pure returns (uint256) {
        return uint96(Books.unwrap(books));
    }

    function withdrawn(Books books) internal pure returns (uint256) {
        return uint96(Books.unwrap(books) >> WITHDRAWN);
    }

    function owed(Books books) internal pure returns (uint256) {
        return books.credited() - books.withdrawn();
    }

    function round(Books books) internal pure returns (uint256) {
        return uint48(Books.unwrap(books) >> ROUND);
    }

    function isPaused(Books books) internal pure returns (bool) {
        return Books.unwrap(books) >> PAUSED != 0;
    }

    /// @dev Books the next round, which credits `total` in all.
    function afterRound(Books books, uint256 total) internal pure returns (Books) {
        return Books.wrap(Books.unwrap(books) + total + (1 << ROUND));
    }

    function afterWithdrawal(Books books, uint256 amount) internal pure returns (Books) {
        return Books.wrap(Books.unwrap(books) + (amount << WITHDRAWN));
    }

    function withPaused(Books books, bool paused) internal pure returns (Books) {
        uint256 others = Books.unwrap(books) & ~(uint256(1) << PAUSED);
        return Books.wrap(paused ? others | (1 << PAUSED) : others);
    }
}

library Uses {
    uint256 private constant MINTED_AT = 32;

    function packed(uint256 id_, uint256 mintedAt_) internal pure returns (Use) {
        return Use.wrap(id_ | (mintedAt_ << MINTED_AT));
    }

    function id(Use use) internal pure returns (uint256) {
        return uint32(Use.unwrap(use));
    }

    function mintedAt(Use use) internal pure returns (uint256) {
        return Use.unwrap(use) >> MINTED_AT;
    }
}

library Supplies {
    uint256 internal constant MOST_MAX = type(uint32).max;
    uint256 private constant WITHHELD = 32;

    function minted(Supply supply) internal pure returns (uint256) {
        return uint32(Supply.unwrap(supply));
    }

    function most(Supply supply) internal pure returns (uint256) {
        unchecked {
            return MOST_MAX - (Supply.unwrap(supply) >> WITHHELD);
        }
    }

    function isSpent(Supply supply) internal pure returns (bool) {
        return supply.minted() >= supply.most();
    }

    /// @dev Adds a node to fewer than the cap.
    function joined(Supply supply) internal pure returns (Supply) {
        unchecked {
            return Supply.wrap(Supply.unwrap(supply) + 1);
        }
    }

    /// @dev Removes a node from at least one.
    function left(Supply supply) internal pure returns (Supply) {
        unchecked {
            return Supply.wrap(Supply.unwrap(supply) - 1);
        }
    }

    function withMost(Supply supply, uint256 most_) internal pure returns (Supply) {
        return Supply.wrap(supply.minted() | ((MOST_MAX - most_) << WITHHELD));
    }
}
