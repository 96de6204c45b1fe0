-- Webhooks: every event is written in the transaction of the fact it tells of, by triggers, so that no path can forget one and
-- none is told that did not happen. Delivering is somebody else's work. While nobody is to be told, nothing is written.

-- Who is told. Named by host and a digest of the URL, which may itself be a secret and is only in the settings.
CREATE TABLE webhook_endpoints (
  endpoint text PRIMARY KEY,
  active boolean NOT NULL, -- whether the settings name it
  failing_since timestamptz, -- the first failure after the last success
  disabled_at timestamptz, -- given up on: nothing is sent until an operator enables it again
  last_success_at timestamptz,
  last_error text
);

-- An event, byte for byte as it is signed and sent. The id is a digest of the fact and its block, so that a fact that is
-- followed twice (a reorganisation and back, a ledger restored) has one id.
CREATE TABLE webhook_events (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  type text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_events_age ON webhook_events (created_at);

CREATE TABLE webhook_deliveries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  seq bigint NOT NULL REFERENCES webhook_events ON DELETE CASCADE,
  endpoint text NOT NULL REFERENCES webhook_endpoints,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts int NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(), -- of the next attempt; moved ahead while one is under way
  settled_at timestamptz,
  UNIQUE (seq, endpoint)
) WITH (fillfactor = 70);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint, due_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (id) WHERE state = 'failed';

-- Every attempt, and what came of it.
CREATE TABLE webhook_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  delivery_id bigint NOT NULL REFERENCES webhook_deliveries ON DELETE CASCADE,
  at timestamptz NOT NULL DEFAULT now(),
  status int, -- null where no answer came
  error text, -- null for a success
  duration_ms int NOT NULL
);
CREATE INDEX webhook_attempts_delivery ON webhook_attempts (delivery_id, id);

-- Writes an event and who is to have it. `fact` is what makes it another one than all others.
CREATE FUNCTION webhook_emit(event_type text, fact text, data jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  IF NOT EXISTS (SELECT FROM webhook_endpoints WHERE active) THEN RETURN; END IF;
  INSERT INTO webhook_events (id, type, body)
    VALUES ('evt_' || left(encode(sha256(convert_to(event_type || ' ' || fact, 'UTF8')), 'hex'), 32), event_type,
      jsonb_build_object('type', event_type, 'timestamp', iso(now()), 'data', data)::text)
    ON CONFLICT (id) DO NOTHING RETURNING seq INTO written;
  IF written IS NULL THEN RETURN; END IF;
  INSERT INTO webhook_deliveries (seq, endpoint) SELECT written, endpoint FROM webhook_endpoints WHERE active;
END $$;

CREATE FUNCTION webhook_payment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  node record;
  common jsonb := jsonb_build_object('txHash', NEW.tx_hash, 'from', NEW.from_address, 'valueWei', NEW.value_wei::text,
    'tierId', NEW.tier_id);
BEGIN
  IF NEW.state = 'held' THEN
    PERFORM webhook_emit('payment.held', concat_ws(' ', NEW.ref, NEW.reason, NEW.block_hash), common || jsonb_build_object(
      'ref', NEW.ref, 'reason', NEW.reason, 'blockNumber', NEW.block_number, 'blockHash', NEW.block_hash,
      'paidAt', iso(NEW.block_time)));
  ELSE
    SELECT * INTO node FROM nodes WHERE node_id = NEW.node_id;
    PERFORM webhook_emit('payment.minted', concat_ws(' ', NEW.ref, node.block_hash), common || jsonb_build_object(
      'nodeId', NEW.node_id::text, 'mintTxHash', node.mint_tx_hash, 'blockNumber', node.block_number,
      'blockHash', node.block_hash, 'mintedAt', iso(node.minted_at)));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_payment_inserted AFTER INSERT ON payments
  FOR EACH ROW WHEN (NEW.state = 'held') EXECUTE FUNCTION webhook_payment();
CREATE TRIGGER webhook_payment_updated AFTER UPDATE OF state, reason ON payments
  FOR EACH ROW WHEN (NEW.state IN ('held', 'minted') AND (OLD.state, OLD.reason) IS DISTINCT FROM (NEW.state, NEW.reason))
  EXECUTE FUNCTION webhook_payment();

CREATE FUNCTION webhook_round() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM webhook_emit('round.credited', concat_ws(' ', NEW.round, NEW.block_hash), jsonb_build_object(
    'distributionId', NEW.round, 'mode', NEW.mode, 'totalWei', NEW.total_wei::text, 'nodeCount', NEW.node_count,
    'txHash', NEW.tx_hash, 'blockNumber', NEW.block_number, 'blockHash', NEW.block_hash, 'createdAt', iso(NEW.created_at)));
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_round AFTER INSERT ON rounds FOR EACH ROW EXECUTE FUNCTION webhook_round();

CREATE FUNCTION webhook_withdrawal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM webhook_emit('withdrawal.seen', concat_ws(' ', NEW.tx_hash, NEW.log_index, NEW.node_id, NEW.block_hash),
    jsonb_build_object('nodeId', NEW.node_id::text, 'status', NEW.status, 'amountWei', NEW.amount_wei::text,
      'toAddress', NEW.to_address, 'txHash', NEW.tx_hash, 'blockNumber', NEW.block_number, 'blockHash', NEW.block_hash,
      'createdAt', iso(NEW.created_at)));
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_withdrawal AFTER INSERT ON withdrawals FOR EACH ROW EXECUTE FUNCTION webhook_withdrawal();

-- What the passes find out is a setting that changes.
CREATE FUNCTION webhook_setting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.name = 'drift' AND jsonb_array_length(NEW.value) > 0 THEN
    PERFORM webhook_emit('drift.found', concat_ws(' ', NEW.value, NEW.updated_at), jsonb_build_object(
      'count', jsonb_array_length(NEW.value), 'drifts', jsonb_path_query_array(NEW.value, '$[0 to 19]')));
  ELSIF NEW.name LIKE 'funds %' AND NEW.value ->> 'low' = 'true' THEN
    -- Each time they become low, not each time the figures change.
    IF TG_OP = 'UPDATE' AND OLD.value ->> 'low' = 'true' THEN RETURN NULL; END IF;
    PERFORM webhook_emit('funds.low', concat_ws(' ', NEW.name, NEW.updated_at), NEW.value - 'low');
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_setting AFTER INSERT OR UPDATE ON settings
  FOR EACH ROW WHEN (NEW.name = 'drift' OR NEW.name LIKE 'funds %') EXECUTE FUNCTION webhook_setting();

-- A reorganisation that took back what may have been told.
CREATE FUNCTION webhook_reorganisation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM webhook_emit('chain.reorganised', NEW.id || ' ' || NEW.at, NEW.detail);
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_reorganisation AFTER INSERT ON audit
  FOR EACH ROW WHEN (NEW.action = 'reorganisation') EXECUTE FUNCTION webhook_reorganisation();

-- When a pass last ended well, for alerts: `finished_at` is also that of a run that failed.
ALTER TABLE passes ADD COLUMN succeeded_at timestamptz;
