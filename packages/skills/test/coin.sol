// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Six decimals, and somebody may be barred, as with USDC. Anybody may mint: it is for tests.
contract Coin {
    uint8 public constant decimals = 6;
    string public constant symbol = "USDC";

    mapping(address => uint256) public balanceOf;
    mapping(address => bool) public barred;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function bar(address who, bool isBarred) external {
        barred[who] = isBarred;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        require(!barred[msg.sender], "barred");
        require(balanceOf[msg.sender] >= value, "not enough");
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}
