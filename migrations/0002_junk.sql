-- Transfers that are no sale by themselves, told apart as they are stored: a flood of them costs its sender gas, and must cost the ledger less.
-- They have no verdict, no event and no row in the audit log.

-- Transfers of so little that paying them back would cost more. Hashes and addresses are bytes, since each row is to be small; those
-- of payments have other columns, because what may become a node is looked at in many ways, and this is only summed.
CREATE TABLE dust (
  block_number bigint NOT NULL,
  tx_index int NOT NULL,
  wallet_id int NOT NULL REFERENCES payment_wallets, -- the payments wallet that it came to
  tx_hash bytea PRIMARY KEY CHECK (length(tx_hash) = 32),
  from_address bytea NOT NULL CHECK (length(from_address) = 20),
  value_wei wei NOT NULL CHECK (value_wei > 0)
);
CREATE INDEX dust_block ON dust (block_number);

-- How many transfers of nothing came to a payments wallet in a block.
CREATE TABLE zero_transfers (
  block_number bigint NOT NULL,
  wallet_id int NOT NULL REFERENCES payment_wallets,
  transfers int NOT NULL CHECK (transfers > 0),
  PRIMARY KEY (block_number, wallet_id)
);

-- Kept totals, so that a scrape need not count.
ALTER TABLE wallet_books
  ADD COLUMN dust_transfers bigint NOT NULL DEFAULT 0 CHECK (dust_transfers >= 0),
  ADD COLUMN zero_transfers bigint NOT NULL DEFAULT 0 CHECK (zero_transfers >= 0);

CREATE FUNCTION dust_credited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wallet_books b SET in_wei = in_wei + added.wei, dust_transfers = dust_transfers + added.transfers
  FROM (SELECT wallet, sum(value_wei) AS wei, count(*) AS transfers FROM added JOIN payment_wallets w ON w.id = wallet_id GROUP BY wallet) added
  WHERE b.wallet = added.wallet;
  RETURN NULL;
END $$;
CREATE TRIGGER dust_credited AFTER INSERT ON dust
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION dust_credited();

CREATE FUNCTION dust_uncredited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wallet_books b SET in_wei = in_wei - removed.wei, dust_transfers = dust_transfers - removed.transfers
  FROM (SELECT wallet, sum(value_wei) AS wei, count(*) AS transfers FROM removed JOIN payment_wallets w ON w.id = wallet_id GROUP BY wallet) removed
  WHERE b.wallet = removed.wallet;
  RETURN NULL;
END $$;
CREATE TRIGGER dust_uncredited AFTER DELETE ON dust
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION dust_uncredited();

CREATE FUNCTION zero_transfers_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wallet_books b SET zero_transfers = zero_transfers + added.transfers
  FROM (SELECT wallet, sum(transfers) AS transfers FROM added JOIN payment_wallets w ON w.id = wallet_id GROUP BY wallet) added
  WHERE b.wallet = added.wallet;
  RETURN NULL;
END $$;
CREATE TRIGGER zero_transfers_counted AFTER INSERT ON zero_transfers
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION zero_transfers_counted();

CREATE FUNCTION zero_transfers_uncounted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wallet_books b SET zero_transfers = zero_transfers - removed.transfers
  FROM (SELECT wallet, sum(transfers) AS transfers FROM removed JOIN payment_wallets w ON w.id = wallet_id GROUP BY wallet) removed
  WHERE b.wallet = removed.wallet;
  RETURN NULL;
END $$;
CREATE TRIGGER zero_transfers_uncounted AFTER DELETE ON zero_transfers
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION zero_transfers_uncounted();

-- They go with their blocks, by the cursor that goes back: an instance of the version before, which knows nothing of them, takes them back, too.
CREATE FUNCTION junk_taken_back() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  height bigint := CASE WHEN TG_OP = 'UPDATE' THEN NEW.block_number ELSE -1 END;
BEGIN
  DELETE FROM dust WHERE block_number > height;
  DELETE FROM zero_transfers WHERE block_number > height;
  RETURN NULL;
END $$;
CREATE TRIGGER junk_taken_back AFTER UPDATE ON cursors
  FOR EACH ROW WHEN (NEW.name = 'follow' AND NEW.block_number < OLD.block_number) EXECUTE FUNCTION junk_taken_back();
CREATE TRIGGER junk_forgotten AFTER DELETE ON cursors
  FOR EACH ROW WHEN (OLD.name = 'follow') EXECUTE FUNCTION junk_taken_back();
