-- A transaction may pay several buyers back, as a Safe's batch does: each transfer in it proves one refund. `inner_index` is the transfer's
-- place among the transaction's inner transfers to the recipient, from 1, and 0 for the transaction's own.

ALTER TABLE refunds ADD COLUMN inner_index integer NOT NULL DEFAULT 0 CHECK (inner_index >= 0);
ALTER TABLE refunds ADD CONSTRAINT refunds_transfer_key UNIQUE (tx_hash, to_address, inner_index);
ALTER TABLE refunds DROP CONSTRAINT refunds_tx_hash_key;
