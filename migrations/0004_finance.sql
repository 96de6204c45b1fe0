-- What closing a month needs: what our own senders moved beside gas, what ether was worth when, and the paths by which
-- exports and pages read without walking whole tables.

-- What a transaction of our senders moved and to whom, as its block told; null while it is in no block, and for what was followed
-- before this column was there and cannot be told from the intent.
ALTER TABLE outbox ADD COLUMN value_wei wei, ADD COLUMN to_address address;
UPDATE outbox SET value_wei = CASE WHEN kind = 'credit' AND state = 'mined' THEN (call ->> 'valueWei')::numeric ELSE 0 END
  WHERE state IN ('mined', 'reverted');

-- What an ether was worth, once an hour, for as long as somebody asked and the upstream knew. An hour without a quote has no row.
CREATE TABLE price_history (
  hour timestamptz PRIMARY KEY CHECK (hour = date_trunc('hour', hour, 'UTC')),
  usd double precision NOT NULL CHECK (usd > 0),
  quoted_at timestamptz NOT NULL
);

-- A cohort's nodes in order: credits are listed by round, cohort and node without sorting.
CREATE INDEX nodes_cohort ON nodes (cohort, node_id);
-- What a wallet ever held.
CREATE INDEX node_transfers_to ON node_transfers (to_address, node_id);
-- Transactions are listed newest first, by sender and by state.
CREATE INDEX outbox_sender ON outbox (sender, id DESC);
CREATE INDEX outbox_state ON outbox (state, id DESC);
CREATE INDEX refunds_block ON refunds (block_number);
