-- What a transaction did is looked up by its hash.
CREATE INDEX nodes_mint ON nodes (mint_tx_hash);
CREATE INDEX rounds_transaction ON rounds (tx_hash);
