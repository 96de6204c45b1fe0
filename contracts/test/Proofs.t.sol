// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MoneyProofs} from "../proofs/MoneyProofs.sol";
import {PowerProofs} from "../proofs/PowerProofs.sol";

/// @notice Owns the proofs' run as fuzz tests, wherever there is no prover: each folds its arguments towards the cases of
/// which the property says most. It must never state a property of its own.
contract ProofsTest is MoneyProofs, PowerProofs {
    uint80 private constant MOST = uint80(CEILING_GWEI * 1 gwei);

    function someone(address any) private pure returns (address) {
        address[7] memory known = [ALICE, BOB, CAROL, OWNER, MINTER, DISTRIBUTOR, any];
        return known[uint160(any) % 7];
    }

    function amounts(uint80 amount, uint80 withdrawn) private pure returns (uint80, uint80) {
        amount = amount % 4 == 0 ? 0 : uint80(bound(amount, 0, MOST));
        return (amount, uint80(bound(withdrawn, 0, amount)));
    }

    function test_check_withdraw(address caller, uint80 amount, uint80 withdrawn, uint256 wanted) public {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_withdraw(someone(caller), amount, withdrawn, bound(wanted, 0, amount - withdrawn + 1));
    }

    function test_check_withdrawAll_sameTwice(address caller, uint80 amount, uint80 withdrawn) public {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_withdrawAll_sameTwice(someone(caller), amount, withdrawn);
    }

    function test_check_withdrawAll_twoOwners(address caller, uint80 amount, uint80 withdrawn) public {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_withdrawAll_twoOwners(someone(caller), amount, withdrawn);
    }

    function test_check_withdrawAll_creditedAndNot(address caller, uint80 amount, uint80 withdrawn) public {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_withdrawAll_creditedAndNot(someone(caller), amount, withdrawn);
    }

    function test_check_withdrawAll_noSuchNode(address caller, uint80 amount, uint80 withdrawn) public {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_withdrawAll_noSuchNode(someone(caller), amount, withdrawn);
    }

    function test_check_sweep(address caller, uint80 amount, uint80 withdrawn, uint96 surplus, uint256 wanted) public {
        (amount, withdrawn) = amounts(amount, withdrawn);
        address by = uint160(caller) % 2 == 0 ? OWNER : someone(caller);
        check_sweep(by, amount, withdrawn, surplus, bound(wanted, 0, uint256(surplus) + 1));
    }

    function test_check_credit(Round memory r) public {
        if (r.floorGwei > r.ceilingGwei) (r.floorGwei, r.ceilingGwei) = (r.ceilingGwei, r.floorGwei);
        r.paid %= 4;
        uint256 most = uint256(r.ceilingGwei) * 1e9 * r.paid;
        if (r.amount % 4 != 0) {
            r.amount = uint80(bound(r.amount, uint256(r.floorGwei) * 1e9 * r.paid, most) % (1 << 80));
        }
        uint96 total = uint96(r.amount) * 2;
        uint96 less = total == 0 ? 0 : 1;
        if (r.value % 3 != 2) r.value = r.value % 3 == 0 ? 0 : total;
        if (r.surplus % 2 == 0) r.surplus = total + r.surplus % 3 - less;
        if (r.allowance % 2 == 0) r.allowance = total + r.allowance % 3 - less;
        check_credit(r);
    }

    function test_check_skip(uint40 from, uint40 until, uint40 now_, uint16 skipped, uint80 amount, uint80 withdrawn)
        public
    {
        (amount, withdrawn) = amounts(amount, withdrawn);
        now_ = uint40(FIRST_DUE + bound(now_, 0, 9 * INTERVAL));
        from = uint40(FIRST_DUE + bound(from, 0, 3) * INTERVAL - from % 2);
        until = uint40(from + 1 + bound(until, 0, 9) * INTERVAL - until % 2);
        if (until <= from) until = from + 1;
        check_skip(from, until, now_, skipped % 8, amount, withdrawn);
    }

    function owners(address caller) private pure returns (address) {
        return uint160(caller) % 2 == 0 ? OWNER : someone(caller);
    }

    /// @dev Often the first second after the window, or the last one in it, of a cohort as fast as can be or slow.
    function aged(Aged memory a) private pure returns (Aged memory) {
        (a.amount, a.withdrawn) = amounts(a.amount, a.withdrawn);
        a.interval = uint32(
            a.interval % 8 == 0
                ? type(uint32).max
                : bound(a.interval, a.interval % 2 * 11 hours + LEAST_INTERVAL, 9 days)
        );
        uint256 end = 2 * uint256(a.interval) < EXPULSION_PERIOD ? 2 * uint256(a.interval) : EXPULSION_PERIOD;
        bool atTheEnd = a.age % 2 == 0 && end > INTERVAL;
        a.age = uint40(atTheEnd ? end - a.age % 4 / 2 : bound(a.age, INTERVAL, 2 * EXPULSION_PERIOD));
        return a;
    }

    function test_check_expel_alices(address caller, Aged memory a) public {
        check_expel_alices(owners(caller), aged(a));
    }

    function test_check_expel_bobs(address caller, Aged memory a) public {
        check_expel_bobs(owners(caller), aged(a));
    }

    function test_check_expel_newcomers(address caller, Aged memory a) public {
        check_expel_newcomers(owners(caller), aged(a));
    }

    function test_check_expel_unusedRef(address caller, Aged memory a, bytes32 ref) public {
        check_expel_unusedRef(owners(caller), aged(a), ref);
    }

    function test_check_ownersPowers(address caller, uint8 power, address a, uint32 b, uint16 c) public {
        check_ownersPowers(someone(caller), power, someone(a), b, c);
    }

    function test_check_pendingOwner(address next) public {
        address by = someone(next);
        check_pendingOwner(by == OWNER || by == address(0) ? ALICE : by);
    }

    function test_check_mint(address caller, address to, bytes32 ref, uint16 cohort, uint32 budget, uint80 amount)
        public
    {
        (amount,) = amounts(amount, 0);
        if (to == address(0)) to = ALICE;
        bytes32[4] memory refs = [bytes32("alice"), ref, ref, ref];
        address by = uint160(caller) % 2 == 0 ? MINTER : someone(caller);
        check_mint(by, someone(to), refs[uint256(ref) % 4], cohort % 4, budget % 3, amount);
    }

    function test_check_supply(uint32 first, uint256 second, address to, bytes32 ref) public {
        if (to == address(0)) to = ALICE;
        bytes32[4] memory refs = [bytes32("alice"), ref, ref, ref];
        first = first % 4 == 0 ? uint32(bound(first, 2, type(uint32).max)) : 2 + first % 3;
        check_supply(first, second % 2 == 0 ? second % 6 : second, someone(to), refs[uint256(ref) % 4]);
    }

    function sender(address holder, address any) private pure returns (address) {
        return uint160(any) % 2 == 0 || any == address(0) ? holder : any;
    }

    function recipient(address any) private pure returns (address) {
        return uint160(any) % 8 == 0 ? address(0) : someone(any);
    }

    function test_check_transfer_alices(address caller, address from, address to, uint80 amount, uint80 withdrawn)
        public
    {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_transfer_alices(sender(ALICE, caller), sender(ALICE, from), recipient(to), amount, withdrawn);
    }

    function test_check_transfer_bobs(address caller, address from, address to, uint80 amount, uint80 withdrawn)
        public
    {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_transfer_bobs(sender(BOB, caller), sender(BOB, from), recipient(to), amount, withdrawn);
    }

    function test_check_transfer_newcomers(address caller, address from, address to, uint80 amount, uint80 withdrawn)
        public
    {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_transfer_newcomers(sender(CAROL, caller), sender(CAROL, from), recipient(to), amount, withdrawn);
    }

    function test_check_stolenKey_withdraws(bool isMinter, uint256 id, uint80 b, uint80 amount, uint80 withdrawn)
        public
    {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_stolenKey_withdraws(isMinter, id, uint80(bound(b, 0, amount)), amount, withdrawn);
    }

    function test_check_stolenKey_sweeps(bool isMinter, uint80 b, uint80 amount, uint80 withdrawn) public {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_stolenKey_sweeps(isMinter, b, amount, withdrawn);
    }

    function test_check_stolenKey_expels(bool isMinter, uint80 amount, uint80 withdrawn) public {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_stolenKey_expels(isMinter, amount, withdrawn);
    }

    function test_check_stolenKey_mints(bool isMinter, bytes32 ref, uint32 budget, uint32 most, uint80 amount) public {
        (amount,) = amounts(amount, 0);
        bytes32[4] memory refs = [bytes32("alice"), "newcomer", ref, ref];
        most = most % 4 == 0 ? uint32(bound(most, 3, type(uint32).max)) : 3 + most % 3;
        check_stolenKey_mints(isMinter, refs[uint256(ref) % 4], budget % 3, most, amount);
    }

    function test_check_stolenKey_opens(bool isMinter, uint256 a, uint16 b, uint16 budget, uint80 amount) public {
        (amount,) = amounts(amount, 0);
        check_stolenKey_opens(isMinter, a % 4 == 0 ? a % 5 : 3, b, budget % 3, amount);
    }

    function test_check_stolenKey_credits(bool isMinter, uint80 b, uint80 amount, uint80 withdrawn) public {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_stolenKey_credits(isMinter, b % 8 == 0 ? MOST + 1 : uint80(bound(b, 0, MOST)), amount, withdrawn);
    }

    function test_check_stolenKey_skips(bool isMinter, uint256 a, uint80 amount, uint80 withdrawn) public {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_stolenKey_skips(isMinter, a % 5, amount, withdrawn);
    }

    function test_check_stolenKey_withdrawsAll(bool isMinter, uint8 a, uint8 b, uint80 amount, uint80 withdrawn)
        public
    {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_stolenKey_withdrawsAll(isMinter, a, b, amount, withdrawn);
    }

    function test_check_stolenKey_transfers(bool isMinter, uint8 a, uint80 amount, uint80 withdrawn) public {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_stolenKey_transfers(isMinter, a % 3, amount, withdrawn);
    }

    function test_check_stolenKey_approves(bool isMinter, uint8 a, uint80 amount, uint80 withdrawn) public {
        (amount, withdrawn) = amounts(amount, withdrawn);
        check_stolenKey_approves(isMinter, a, amount, withdrawn);
    }
}
