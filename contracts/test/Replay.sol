// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {INodeFactory} from "../src/INodeFactory.sol";
import {Vm} from "./Test.sol";

/// @notice Owns the state of a factory as its logs alone tell it, which is how a ledger is rebuilt. It must never read the
/// factory, nor see a call: only logs and the time of their block.
contract Replay {
    struct Node {
        address owner;
        uint256 cohort;
        uint256 perNodeAtMint;
        uint256 kept;
        uint256 withdrawn;
        bytes32 ref;
    }

    struct Cohort {
        uint256 tier;
        uint256 nextDue;
        uint256 interval;
        uint256 perNode;
        uint256 size;
    }

    struct Window {
        uint256 from;
        uint256 until;
    }

    mapping(uint256 id => Node) public nodes;
    mapping(uint256 number => Cohort) public cohorts;
    mapping(uint256 number => Window) public windows;
    mapping(address wallet => uint256) public counts;
    mapping(address wallet => bool) public declines;
    mapping(bytes32 ref => uint256) public nodeOfRef;
    mapping(uint256 tier => uint256) public minted;
    /// @dev How many fewer than there are ids.
    mapping(uint256 tier => uint256) public withheld;
    uint256 public stray;
    uint256 public lastId;
    uint256 public lastCohort;
    uint256 public windowCount;
    uint256 public round;
    uint256 public credited;
    uint256 public withdrawn;
    uint256 public allowance;
    uint256 public nodesLeft;
    uint256 public cohortsLeft;
    uint256 public floorGwei;
    uint256 public ceilingGwei;
    address public owner;
    address public pendingOwner;
    address public minter;
    address public distributor;
    bool public paused;

    constructor(uint256 lastId_, uint256 lastCohort_, uint256 booked) {
        (lastId, lastCohort, credited, withdrawn) = (lastId_, lastCohort_, booked, booked);
    }

    function apply_(Vm.Log[] calldata logs) external {
        for (uint256 i; i < logs.length; ++i) {
            bytes32 kind = logs[i].topics[0];
            if (!applyNode(kind, logs[i]) && !applyRound(kind, logs[i])) applyOwner(kind, logs[i]);
        }
    }

    function topic(Vm.Log calldata log, uint256 index) private pure returns (uint256) {
        return uint256(log.topics[index]);
    }

    function topicAddress(Vm.Log calldata log, uint256 index) private pure returns (address) {
        return address(uint160(topic(log, index)));
    }

    function word(Vm.Log calldata log, uint256 index) private pure returns (uint256) {
        return uint256(bytes32(log.data[index * 32:index * 32 + 32]));
    }

    function applyNode(bytes32 kind, Vm.Log calldata log) private returns (bool) {
        if (kind == keccak256("Transfer(address,address,uint256)")) {
            (address from, address to, uint256 id) = (topicAddress(log, 1), topicAddress(log, 2), topic(log, 3));
            if (from != address(0)) --counts[from];
            ++counts[to];
            nodes[id].owner = to;
        } else if (kind == INodeFactory.NodeMinted.selector) {
            mint(topic(log, 1), log.topics[3], word(log, 0));
        } else if (kind == INodeFactory.NodeExpelled.selector) {
            Node storage node = nodes[topic(log, 1)];
            Cohort storage left = cohorts[node.cohort];
            require(node.cohort == topic(log, 3) && nodeOfRef[log.topics[2]] == topic(log, 1), "the node that left");
            require(left.perNode - node.perNodeAtMint == word(log, 0), "what it was credited");
            --left.size;
            --minted[left.tier];
            (node.cohort, node.perNodeAtMint, node.kept) = (0, 0, word(log, 0));
        } else if (kind == INodeFactory.Withdrawn.selector) {
            nodes[topic(log, 1)].withdrawn = word(log, 2);
            withdrawn += word(log, 1);
        } else if (kind == INodeFactory.GiftsDeclined.selector) {
            declines[topicAddress(log, 1)] = word(log, 0) != 0;
        } else {
            return false;
        }
        return true;
    }

    function mint(uint256 id, bytes32 ref, uint256 number) private {
        Cohort storage cohort = cohorts[number];
        while (cohort.size == 0 && cohort.nextDue <= block.timestamp) {
            cohort.nextDue += cohort.interval;
        }
        ++cohort.size;
        ++minted[cohort.tier];
        --nodesLeft;
        (nodes[id].cohort, nodes[id].perNodeAtMint, nodes[id].ref) = (number, cohort.perNode, ref);
        nodeOfRef[ref] = id;
        lastId = id;
    }

    function applyRound(bytes32 kind, Vm.Log calldata log) private returns (bool) {
        if (kind == INodeFactory.CohortOpened.selector) {
            lastCohort = topic(log, 1);
            --cohortsLeft;
            cohorts[lastCohort] = Cohort(word(log, 0), word(log, 1), word(log, 2), 0, 0);
        } else if (kind == INodeFactory.IntervalSet.selector) {
            Cohort storage cohort = cohorts[topic(log, 1)];
            require(cohort.interval == word(log, 1), "the former interval");
            cohort.interval = word(log, 0);
        } else if (kind == INodeFactory.TurnsSkipped.selector) {
            round = topic(log, 1);
            pass(cohorts[topic(log, 2)], word(log, 0), word(log, 1));
        } else if (kind == INodeFactory.Credited.selector) {
            round = topic(log, 1);
            Cohort storage cohort = cohorts[topic(log, 2)];
            require(cohort.size == word(log, 3), "the cohort's size");
            pass(cohort, word(log, 0), word(log, 1));
            cohort.perNode += word(log, 2);
            credited += word(log, 2) * word(log, 3);
        } else if (kind == INodeFactory.SurplusSpent.selector) {
            require(topic(log, 1) == round && allowance == word(log, 1) + word(log, 0), "what was allowed");
            allowance = word(log, 1);
        } else {
            return false;
        }
        return true;
    }

    function pass(Cohort storage cohort, uint256 due, uint256 turns) private {
        require(cohort.nextDue == due, "the pending turn");
        cohort.nextDue += turns * cohort.interval;
    }

    function applyOwner(bytes32 kind, Vm.Log calldata log) private {
        if (kind == INodeFactory.MinterSet.selector) {
            require(minter == topicAddress(log, 2), "the former minter");
            (minter, nodesLeft, cohortsLeft) = (topicAddress(log, 1), word(log, 0), word(log, 1));
        } else if (kind == INodeFactory.MinterRefilled.selector) {
            require(nodesLeft == word(log, 2) && cohortsLeft == word(log, 3), "the former budget");
            (nodesLeft, cohortsLeft) = (word(log, 0), word(log, 1));
        } else if (kind == INodeFactory.DistributorSet.selector) {
            require(distributor == topicAddress(log, 2), "the former distributor");
            (distributor, floorGwei, ceilingGwei) = (topicAddress(log, 1), word(log, 0), word(log, 1));
        } else if (kind == INodeFactory.BoundsSet.selector) {
            require(floorGwei == word(log, 2) && ceilingGwei == word(log, 3), "the former bounds");
            (floorGwei, ceilingGwei) = (word(log, 0), word(log, 1));
        } else if (kind == INodeFactory.TierCapped.selector) {
            uint256 former = type(uint32).max - withheld[topic(log, 1)];
            require(former == word(log, 1) && word(log, 0) <= former, "the former most");
            withheld[topic(log, 1)] = type(uint32).max - word(log, 0);
        } else if (kind == INodeFactory.EtherReceived.selector) {
            stray += word(log, 0);
        } else if (kind == INodeFactory.SwapsAllowanceSet.selector) {
            require(allowance == word(log, 1), "the former allowance");
            allowance = word(log, 0);
        } else if (kind == INodeFactory.NotOwedSet.selector) {
            windowCount = topic(log, 1);
            windows[windowCount] = Window(word(log, 0), word(log, 1));
        } else if (kind == INodeFactory.OwnershipTransferStarted.selector) {
            pendingOwner = topicAddress(log, 2);
        } else if (kind == INodeFactory.OwnershipTransferred.selector) {
            require(owner == topicAddress(log, 1), "the former owner");
            (owner, pendingOwner) = (topicAddress(log, 2), address(0));
        } else if (kind == INodeFactory.Paused.selector) {
            paused = true;
        } else if (kind == INodeFactory.Unpaused.selector) {
            paused = false;
        }
    }
}
