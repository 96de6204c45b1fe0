-- What following a block writes, without what no question needs. An instance from before this migration asks and writes as before.

-- Nobody looks for a header by its hash, and times rise with the numbers: a time is found by halving. That no block stands at two heights, the
-- parents say, by which each header is held against the one before it.
DROP INDEX blocks_time;
ALTER TABLE blocks DROP CONSTRAINT blocks_hash_key;

-- A payment has no node when it comes.
CREATE UNIQUE INDEX payments_node ON payments (node_id) WHERE node_id IS NOT NULL;
ALTER TABLE payments DROP CONSTRAINT payments_node_id_key;

-- Payments come as seen, and are soon something else. Until then they stand in payments_open.
CREATE INDEX payments_settled ON payments (state, id DESC) WHERE state <> 'seen';
DROP INDEX payments_state;

-- Once for all withdrawals of a statement, and not at all where no endpoint asks for them.
CREATE FUNCTION webhook_withdrawals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook_endpoints WHERE active AND (events IS NULL OR events && ARRAY['all', 'withdrawal.seen'])) THEN RETURN NULL; END IF;
  PERFORM webhook_emit('withdrawal.seen', concat_ws(' ', w.tx_hash, w.log_index, w.node_id, w.block_hash),
    jsonb_build_object('nodeId', w.node_id::text, 'status', w.status, 'amountWei', w.amount_wei::text,
      'toAddress', w.to_address, 'txHash', w.tx_hash, 'blockNumber', w.block_number, 'blockHash', w.block_hash,
      'createdAt', iso(w.created_at)))
    FROM (SELECT * FROM added ORDER BY id) w;
  RETURN NULL;
END $$;
DROP TRIGGER webhook_withdrawal ON withdrawals;
DROP FUNCTION webhook_withdrawal();
CREATE TRIGGER webhook_withdrawals AFTER INSERT ON withdrawals
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION webhook_withdrawals();
