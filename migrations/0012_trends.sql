-- The operator's trends read a stretch of time, whatever the ledger's age.
CREATE INDEX payments_time ON payments (block_time) WHERE state <> 'ignored';
CREATE INDEX nodes_time ON nodes (minted_at);

-- A transaction's block time outlives the header of its block. A trigger sets it, so that code from before it sets it, too.
ALTER TABLE outbox ADD COLUMN block_time timestamptz;

CREATE FUNCTION outbox_block_time() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.block_time := (SELECT to_timestamp(time) FROM blocks WHERE number = NEW.block_number);
  RETURN NEW;
END $$;

-- Of an older header the mint or the round tells the time; else it was signed shortly before.
UPDATE outbox o SET block_time = coalesce(
  (SELECT to_timestamp(b.time) FROM blocks b WHERE b.number = o.block_number),
  (SELECT n.minted_at FROM nodes n WHERE n.block_number = o.block_number LIMIT 1),
  (SELECT r.created_at FROM rounds r WHERE r.block_number = o.block_number LIMIT 1),
  o.created_at)
WHERE block_number IS NOT NULL;

CREATE TRIGGER outbox_timed BEFORE INSERT OR UPDATE OF block_number ON outbox
  FOR EACH ROW EXECUTE FUNCTION outbox_block_time();
CREATE INDEX outbox_time ON outbox (block_time) WHERE block_time IS NOT NULL;

-- What no chain can tell again: the contract's cover and the providers, hour by hour, as the service saw them.
CREATE TABLE cover_hours (
  hour timestamptz PRIMARY KEY CHECK (hour = date_trunc('hour', hour, 'UTC')),
  -- Balance less debt, the lowest of the hour; negative where the balance did not suffice.
  surplus_wei numeric(78, 0) NOT NULL,
  block_number bigint NOT NULL
);

CREATE TABLE provider_hours (
  hour timestamptz NOT NULL CHECK (hour = date_trunc('hour', hour, 'UTC')),
  host text NOT NULL,
  requests bigint NOT NULL CHECK (requests > 0),
  faults bigint NOT NULL CHECK (faults BETWEEN 0 AND requests),
  PRIMARY KEY (hour, host)
);
