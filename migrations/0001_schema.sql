-- The ledger: a projection of the chain plus the operator's own decisions. Every row that came from a block carries
-- the block's number and hash, so that a reorganisation can take it back.

-- By length and a pattern without a count, which says the same as one with a count and takes PostgreSQL a fifth of the time.
CREATE DOMAIN address AS text CHECK (length(VALUE) = 42 AND VALUE ~ '^0x[0-9a-f]+$');
CREATE DOMAIN hash AS text CHECK (length(VALUE) = 66 AND VALUE ~ '^0x[0-9a-f]+$');
CREATE DOMAIN wei AS numeric(78, 0) CHECK (VALUE BETWEEN 0 AND 115792089237316195423570985008687907853269984665640564039457584007913129639935);

-- How the API writes a time. UTC whatever the session's zone.
CREATE FUNCTION iso(at timestamptz) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

------------------------------------------------------------------------------------------------ following the chain

-- Headers of recent blocks: what a reorganisation is found with, and where seeds are read. Older ones are pruned.
CREATE TABLE blocks (
  number bigint PRIMARY KEY CHECK (number >= 0),
  hash hash NOT NULL UNIQUE,
  parent_hash hash NOT NULL,
  time bigint NOT NULL, -- unix seconds
  prevrandao hash NOT NULL
);
CREATE INDEX blocks_time ON blocks (time, number);

-- From which block on, and with which nonce, all of an account's transactions are known: what a provider says of its nonce is held against it.
CREATE TABLE sender_bases (
  sender address PRIMARY KEY,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  block_number bigint NOT NULL
);

-- What the last followed blocks show of the price of gas, wei per gas: it bounds what a provider may have us offer.
CREATE TABLE block_fees (
  number bigint PRIMARY KEY,
  base_fee_wei wei, -- null: none on this chain
  tip_wei wei -- the median of what others paid; null: nobody did
);

-- The block up to which all of the ledger has followed.
CREATE TABLE cursors (
  name text PRIMARY KEY,
  block_number bigint NOT NULL,
  block_hash hash NOT NULL,
  block_time bigint NOT NULL
);

-- ------------------------------------------------------------------------------------------------- operator's terms

-- Tiers are versioned: each version holds from a block on, until the next. Rows are never changed, but for `live`.
CREATE TABLE tiers (
  tier_id text NOT NULL CHECK (tier_id ~ '^[a-z0-9][a-z0-9-]{0,31}$'),
  version int NOT NULL CHECK (version > 0),
  tier_no int NOT NULL CHECK (tier_no BETWEEN 1 AND 65535), -- the tier's number on the contract
  label text NOT NULL CHECK (length(label) BETWEEN 1 AND 64),
  price_wei wei NOT NULL CHECK (price_wei > 0),
  max_per_wallet int NOT NULL CHECK (max_per_wallet > 0),
  holding_wei wei NOT NULL DEFAULT 0,
  holding_token address,
  holding_symbol text,
  holding_decimals int,
  payout_bps int NOT NULL CHECK (payout_bps BETWEEN 0 AND 1000000),
  on_sale boolean NOT NULL,
  live boolean NOT NULL DEFAULT true, -- the latest version of its tier
  from_block bigint NOT NULL,
  from_time bigint NOT NULL, -- unix seconds, not later than the block's own time
  entered_at timestamptz NOT NULL DEFAULT now(),
  entered_by text NOT NULL,
  PRIMARY KEY (tier_id, version),
  CHECK ((holding_wei = 0) = (holding_token IS NULL))
);
CREATE UNIQUE INDEX tiers_live ON tiers (tier_id) WHERE live;
CREATE UNIQUE INDEX tiers_live_no ON tiers (tier_no) WHERE live;
-- The amount of a transfer is what selects the tier.
CREATE UNIQUE INDEX tiers_price_on_sale ON tiers (price_wei) WHERE live AND on_sale;
CREATE INDEX tiers_no ON tiers (tier_no, from_time);

-- Whether turns are owed, the range a turn's draw falls in, and the schedule new nodes join, from a time on. The first row holds from time 0.
-- Rows are never changed; one that does not hold yet may be taken back.
CREATE TABLE credit_terms (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  from_time bigint NOT NULL UNIQUE CHECK (from_time >= 0), -- unix seconds of block time
  payouts boolean NOT NULL, -- false: turns due from then on are not owed, once the contract's owner has said so on chain
  min_wei wei NOT NULL,
  max_wei wei NOT NULL,
  interval_sec bigint NOT NULL CHECK (interval_sec > 0),
  slot_sec bigint NOT NULL CHECK (slot_sec > 0 AND interval_sec % slot_sec = 0),
  entered_at timestamptz NOT NULL DEFAULT now(),
  entered_by text NOT NULL,
  CHECK (min_wei <= max_wei)
);

-- The payments wallets, in the order in which they were entered: the last one that holds is the one that buyers are told. Rows are never changed,
-- but for closing one. All that are not closed are watched.
CREATE TABLE payment_wallets (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  wallet address NOT NULL UNIQUE,
  -- It holds in blocks that are neither below the one nor older than the other.
  from_block bigint NOT NULL CHECK (from_block >= 0),
  from_time bigint NOT NULL CHECK (from_time >= 0), -- unix seconds of block time
  stolen boolean NOT NULL DEFAULT false, -- the ones before are thieves' by then: no payment to them is a sale once it holds
  watched_from bigint NOT NULL CHECK (watched_from >= 0), -- the first block that is read for it
  closed_block bigint, -- the last block that is read for it
  entered_at timestamptz NOT NULL DEFAULT now(),
  entered_by text NOT NULL,
  closed_at timestamptz,
  closed_by text,
  CHECK (num_nulls(closed_block, closed_at, closed_by) IN (0, 3))
);

-- ------------------------------------------------------------------------------------------------- what we ever send

-- One row per intent to send: stored signed before it is sent. An intent may need several attempts. `foreign` is a
-- followed transaction of a sender that no intent of ours made: recorded, so that its nonce is never given out again.
CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('openCohorts', 'mint', 'credit', 'foreign')),
  sender address NOT NULL,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  call jsonb NOT NULL, -- the call to the factory, wei as decimal strings
  gas_limit bigint NOT NULL,
  guard_block bigint,
  valid_until bigint, -- the last block time at which it can be carried out, unix seconds; null for a foreign one
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'mined', 'reverted', 'displaced')),
  block_number bigint,
  block_hash hash,
  -- The attempt that was mined, or the foreign transaction that took the nonce; null where no followed block holds that one.
  tx_hash hash,
  gas_used bigint,
  fee_wei wei,
  -- What it moved and to whom, as its block told; null while it is in no block.
  value_wei wei,
  to_address address,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((kind = 'foreign') = (valid_until IS NULL)),
  CHECK ((state = 'pending') = (block_number IS NULL)),
  CHECK ((block_number IS NULL) = (block_hash IS NULL)),
  CHECK ((block_number IS NULL) = (tx_hash IS NULL) OR state = 'displaced')
);
CREATE UNIQUE INDEX outbox_nonce ON outbox (sender, nonce);
CREATE INDEX outbox_pending ON outbox (sender, nonce) WHERE state = 'pending';
CREATE INDEX outbox_block ON outbox (block_number) WHERE block_number IS NOT NULL;
-- Transactions are listed newest first, by sender and by state.
CREATE INDEX outbox_sender ON outbox (sender, id DESC);
CREATE INDEX outbox_state ON outbox (state, id DESC);

-- Every signed byte string ever handed to a provider, stored before it was.
CREATE TABLE outbox_attempts (
  tx_hash hash PRIMARY KEY,
  outbox_id bigint NOT NULL REFERENCES outbox,
  attempt int NOT NULL CHECK (attempt > 0),
  raw text NOT NULL CHECK (raw ~ '^0x[0-9a-f]+$'),
  max_fee_wei wei NOT NULL,
  max_priority_fee_wei wei NOT NULL,
  signed_at timestamptz NOT NULL DEFAULT now(),
  signed_at_block bigint NOT NULL,
  sends int NOT NULL DEFAULT 0,
  last_sent_at timestamptz,
  last_outcome text,
  UNIQUE (outbox_id, attempt)
);

---------------------------------------------------------------------------------------------------------- payments

-- A transfer to a payments wallet. `inner_index` 0 is the top-level transfer; the hash is null only for a residue
-- that the balance audit found and no transaction's value explains.
CREATE TABLE payments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tx_hash hash,
  inner_index int NOT NULL DEFAULT 0 CHECK (inner_index >= 0),
  ref hash NOT NULL UNIQUE, -- what its mint carries on chain
  wallet address NOT NULL, -- the payments wallet that it came to
  from_address address,
  value_wei wei NOT NULL,
  succeeded boolean NOT NULL,
  state text NOT NULL DEFAULT 'seen'
    CHECK (state IN ('seen', 'accepted', 'minting', 'minted', 'held', 'refunded', 'dismissed', 'orphaned', 'ignored')),
  reason text CHECK (reason IN ('wrongAmount', 'saleClosed', 'tierAllowance', 'holding', 'walletLimit', 'senderDenied',
    'unattributed', 'mintReverted', 'mintedElsewhere', 'oldWallet', 'recheck', 'self', 'operator', 'zero', 'failed')),
  tier_id text,
  tier_version int,
  outbox_id bigint REFERENCES outbox, -- the mint that carries it
  node_id bigint UNIQUE, -- minted if and only if there is a node
  block_number bigint, -- null while orphaned
  block_hash hash,
  tx_index int,
  block_time timestamptz NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (tier_id, tier_version) REFERENCES tiers,
  UNIQUE (tx_hash, inner_index),
  CHECK ((state = 'orphaned') = (block_number IS NULL)),
  CHECK ((block_number IS NULL) = (block_hash IS NULL)),
  CHECK ((reason IS NOT NULL) = (state IN ('held', 'ignored')) OR state IN ('refunded', 'dismissed', 'orphaned')),
  -- A minted one may lack a tier: the chain's word is taken also by a ledger whose tiers are yet to be entered.
  CHECK (state NOT IN ('accepted', 'minting') OR tier_id IS NOT NULL),
  -- Value without a proven sender is nobody's sale: it can only be given back or dismissed.
  CHECK (from_address IS NOT NULL OR state IN ('held', 'refunded', 'dismissed', 'orphaned')),
  CHECK (tx_hash IS NOT NULL OR from_address IS NULL),
  CHECK (state <> 'minting' OR outbox_id IS NOT NULL),
  CHECK ((state = 'minted') = (node_id IS NOT NULL))
);
CREATE INDEX payments_open ON payments (block_number, tx_index, inner_index) WHERE state IN ('seen', 'accepted', 'minting');
CREATE INDEX payments_held ON payments (block_number) WHERE state = 'held';
CREATE INDEX payments_wallet ON payments (from_address, tier_id) WHERE state IN ('accepted', 'minting');
CREATE INDEX payments_block ON payments (block_number);
CREATE INDEX payments_outbox ON payments (outbox_id) WHERE outbox_id IS NOT NULL;
-- Payments are listed newest first, by id: all, those of a state, of a reason, of both. A reason stays with what was dismissed, so
-- neither of the first two would do for the last.
CREATE INDEX payments_state ON payments (state, id DESC);
CREATE INDEX payments_state_reason ON payments (state, reason, id DESC) WHERE reason IS NOT NULL;
CREATE INDEX payments_reason ON payments (reason, id DESC) WHERE reason IS NOT NULL;
-- Bulk dismissal looks at small held payments only.
CREATE INDEX payments_held_value ON payments (value_wei) WHERE state = 'held';

-- Every verdict on a payment with its evidence: the rule, what it looked at, who decided. Rows are never changed.
CREATE TABLE payment_verdicts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment_id bigint NOT NULL REFERENCES payments,
  verdict text NOT NULL CHECK (verdict IN ('accepted', 'held', 'ignored', 'refunded', 'dismissed')),
  reason text,
  evidence jsonb NOT NULL,
  decided_by text NOT NULL, -- 'pass' or the operator's label
  decided_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX payment_verdicts_payment ON payment_verdicts (payment_id, id DESC);

-- Payments whose facts could not be read, and the block time from which they are asked for again. The later payments of the same wallet
-- wait with them. Rows of payments that were decided since are removed by the judge.
CREATE TABLE payment_retries (
  payment_id bigint PRIMARY KEY REFERENCES payments ON DELETE CASCADE,
  retry_time bigint NOT NULL
);

-- What left a payments wallet by its own transactions: the other side of its balance. The hash is null only for what
-- the balance audit found missing and no transaction explains.
CREATE TABLE wallet_outflows (
  ref hash PRIMARY KEY,
  tx_hash hash UNIQUE,
  wallet address NOT NULL, -- the one that it left
  to_address address,
  value_wei wei NOT NULL, -- 0 where it reverted
  fee_wei wei NOT NULL,
  block_number bigint NOT NULL,
  block_hash hash NOT NULL,
  block_time timestamptz NOT NULL
);
CREATE INDEX wallet_outflows_block ON wallet_outflows (block_number);

-- Wallets whose payments the operator wants to see first (exchanges, whose senders are not the buyers).
CREATE TABLE senders (
  address address PRIMARY KEY,
  label text NOT NULL CHECK (length(label) BETWEEN 1 AND 64),
  reason text NOT NULL,
  added_by text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now()
);

----------------------------------------------------------------------------------------------------------- the nodes

-- All nodes of a cohort are due together and get the same amount. `per_node_wei` is what one of them that was there
-- from the start has been credited. No index on what a round writes, so that its updates stay in the page.
CREATE TABLE cohorts (
  cohort int PRIMARY KEY CHECK (cohort BETWEEN 1 AND 65535),
  tier_no int NOT NULL,
  interval_sec bigint NOT NULL CHECK (interval_sec > 0),
  next_due bigint NOT NULL, -- unix seconds
  size int NOT NULL DEFAULT 0 CHECK (size >= 0),
  per_node_wei wei NOT NULL DEFAULT 0,
  turn_count int NOT NULL DEFAULT 0, -- credits; one may be for several turns
  last_turn_at timestamptz,
  block_number bigint NOT NULL, -- where it was opened
  block_hash hash NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX cohorts_tier ON cohorts (tier_no);

-- A cohort as each block left it, for taking blocks back. Pruned with the headers, but for each cohort's last.
CREATE TABLE cohort_states (
  cohort int NOT NULL REFERENCES cohorts ON DELETE CASCADE,
  block_number bigint NOT NULL,
  interval_sec bigint NOT NULL,
  next_due bigint NOT NULL,
  size int NOT NULL,
  per_node_wei wei NOT NULL,
  turn_count int NOT NULL,
  last_turn_at timestamptz,
  PRIMARY KEY (cohort, block_number)
);
CREATE INDEX cohort_states_block ON cohort_states (block_number);

-- Nodes without a payment that are meant to be.
CREATE TABLE grants (
  ref hash PRIMARY KEY, -- not the node's number: a reorganisation may give that to another one
  reason text NOT NULL,
  granted_by text NOT NULL,
  granted_at timestamptz NOT NULL DEFAULT now()
);

-- A node. The row id is derived, so that it survives a rebuild. Credited = the cohort's per_node_wei less the one at mint.
CREATE TABLE nodes (
  node_id bigint PRIMARY KEY CHECK (node_id > 0),
  id bigint GENERATED ALWAYS AS (1000000000 + node_id) STORED UNIQUE,
  owner address NOT NULL,
  cohort int REFERENCES cohorts, -- null once it was expelled: no later turn is owed to it
  ref hash NOT NULL UNIQUE,
  payment_id bigint UNIQUE REFERENCES payments,
  per_node_at_mint_wei wei NOT NULL,
  turns_at_mint int NOT NULL,
  withdrawn_wei wei NOT NULL DEFAULT 0,
  mint_tx_hash hash NOT NULL,
  minted_at timestamptz NOT NULL,
  block_number bigint NOT NULL,
  block_hash hash NOT NULL
) WITH (fillfactor = 90);
CREATE INDEX nodes_owner ON nodes (owner, node_id);
CREATE INDEX nodes_block ON nodes (block_number);
-- A cohort's nodes in order: credits are listed by round, cohort and node without sorting.
CREATE INDEX nodes_cohort ON nodes (cohort, node_id);
-- Nodes without a payment: empty in a healthy ledger, read before every round.
CREATE INDEX nodes_unpaid ON nodes (cohort) WHERE payment_id IS NULL;

-- Nodes that left their cohort before they were ever credited, and which it was.
CREATE TABLE expulsions (
  node_id bigint PRIMARY KEY REFERENCES nodes ON DELETE CASCADE,
  cohort int NOT NULL REFERENCES cohorts,
  tx_hash hash NOT NULL,
  block_number bigint NOT NULL,
  block_hash hash NOT NULL
);
CREATE INDEX expulsions_block ON expulsions (block_number);

ALTER TABLE payments ADD FOREIGN KEY (node_id) REFERENCES nodes DEFERRABLE INITIALLY DEFERRED;

-- Every ERC-721 transfer, the mint's included: whom a node belonged to when.
CREATE TABLE node_transfers (
  block_number bigint NOT NULL,
  log_index int NOT NULL,
  node_id bigint NOT NULL REFERENCES nodes ON DELETE CASCADE,
  from_address address NOT NULL,
  to_address address NOT NULL,
  tx_hash hash NOT NULL,
  block_hash hash NOT NULL,
  PRIMARY KEY (block_number, log_index)
);
CREATE INDEX node_transfers_node ON node_transfers (node_id, block_number DESC, log_index DESC);
-- What a wallet ever held.
CREATE INDEX node_transfers_to ON node_transfers (to_address, node_id);

-- Wallets that hold nodes, and how many.
CREATE TABLE owners (
  owner address PRIMARY KEY,
  nodes int NOT NULL CHECK (nodes > 0)
);

---------------------------------------------------------------------------------------- rounds, turns, withdrawals

-- A round as the contract's events tell it (API: distribution). One that only skipped turns credited no node and is none to the API.
CREATE TABLE rounds (
  round bigint PRIMARY KEY CHECK (round > 0),
  mode text NOT NULL CHECK (mode IN ('treasury', 'swaps')),
  total_wei wei NOT NULL,
  node_count bigint NOT NULL,
  tx_hash hash NOT NULL,
  created_at timestamptz NOT NULL,
  block_number bigint NOT NULL,
  block_hash hash NOT NULL
);
CREATE INDEX rounds_newest ON rounds (created_at DESC, round DESC) WHERE node_count > 0;
CREATE INDEX rounds_block ON rounds (block_number);

-- A cohort's credit in a round, with the terms and the seed from which anyone can recompute its amount. The terms are null for a
-- turn that this ledger has no terms for (credited by another, or before they were entered), and for a credit of several turns, which
-- single_turns has.
CREATE TABLE turns (
  round bigint NOT NULL REFERENCES rounds ON DELETE CASCADE,
  cohort int NOT NULL REFERENCES cohorts,
  turn_no int NOT NULL CHECK (turn_no > 0), -- counts within the cohort
  due bigint NOT NULL, -- of the first turn, unix seconds
  turns int NOT NULL CHECK (turns > 0),
  amount_wei wei NOT NULL, -- for each node and all of the turns
  node_count int NOT NULL,
  tier_id text,
  seed_block bigint,
  seed hash,
  min_wei wei,
  max_wei wei,
  payout_bps int,
  PRIMARY KEY (round, cohort),
  UNIQUE (cohort, due) -- each turn is paid once
);
CREATE UNIQUE INDEX turns_cohort ON turns (cohort, turn_no DESC);

-- Each turn of a credit that is for several of them.
CREATE TABLE single_turns (
  round bigint NOT NULL,
  cohort int NOT NULL,
  due bigint NOT NULL, -- unix seconds
  amount_wei wei, -- what the terms come to for each node; null where one of them is not known
  seed_block bigint,
  seed hash,
  min_wei wei,
  max_wei wei,
  payout_bps int,
  PRIMARY KEY (round, cohort, due),
  FOREIGN KEY (round, cohort) REFERENCES turns ON DELETE CASCADE
);

-- The first blocks not before turns, from which these have their seeds. Kept for good: a turn may be paid long after its headers are gone.
CREATE TABLE seed_blocks (
  number bigint PRIMARY KEY,
  time bigint NOT NULL,
  parent_time bigint, -- null for a block without parent
  seed hash NOT NULL
);
CREATE INDEX seed_blocks_time ON seed_blocks (time, number);

-- Turns of a cohort that a round passed over, since they were not owed.
CREATE TABLE skips (
  round bigint NOT NULL REFERENCES rounds ON DELETE CASCADE,
  cohort int NOT NULL REFERENCES cohorts,
  due bigint NOT NULL, -- of the first turn, unix seconds
  turns bigint NOT NULL CHECK (turns > 0),
  PRIMARY KEY (round, cohort)
);

-- What the contract's owner has done: keys, budgets, bounds, windows of turns not owed, pause, ownership, sweeps.
CREATE TABLE owner_acts (
  block_number bigint NOT NULL,
  log_index int NOT NULL,
  name text NOT NULL, -- the event's
  detail jsonb NOT NULL, -- its arguments
  at timestamptz NOT NULL,
  tx_hash hash NOT NULL,
  block_hash hash NOT NULL,
  PRIMARY KEY (block_number, log_index)
);

CREATE TABLE withdrawals (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  node_id bigint NOT NULL REFERENCES nodes ON DELETE CASCADE,
  amount_wei wei NOT NULL,
  withdrawn_total_wei wei, -- the node's total after it; null for one that failed
  to_address address NOT NULL,
  tx_hash hash NOT NULL,
  log_index int, -- null for one that failed
  status text NOT NULL CHECK (status IN ('signed', 'sent', 'failed')),
  created_at timestamptz NOT NULL,
  confirmed_at timestamptz,
  block_number bigint NOT NULL,
  block_hash hash NOT NULL,
  CHECK ((status = 'sent') = (withdrawn_total_wei IS NOT NULL)),
  UNIQUE NULLS NOT DISTINCT (tx_hash, log_index, node_id)
);
CREATE INDEX withdrawals_node ON withdrawals (node_id, id DESC);
CREATE INDEX withdrawals_block ON withdrawals (block_number);

------------------------------------------------------------------------------------------------------- kept totals

-- What /api/stats answers, kept by the triggers below so that no path can forget it and no read has to sum.
CREATE TABLE totals (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  nodes bigint NOT NULL DEFAULT 0 CHECK (nodes >= 0),
  owners bigint NOT NULL DEFAULT 0 CHECK (owners >= 0),
  rounds bigint NOT NULL DEFAULT 0 CHECK (rounds >= 0),
  distributed_wei wei NOT NULL DEFAULT 0,
  withdrawn_wei wei NOT NULL DEFAULT 0,
  sales_wei wei NOT NULL DEFAULT 0,
  CHECK (withdrawn_wei <= distributed_wei)
) WITH (fillfactor = 50);
INSERT INTO totals DEFAULT VALUES;

CREATE FUNCTION count_owners(changes jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  before bigint;
BEGIN
  SELECT count(*) INTO before FROM owners WHERE owner IN (SELECT jsonb_object_keys(changes));
  DELETE FROM owners o USING jsonb_each_text(changes) c WHERE o.owner = c.key AND o.nodes + c.value::int = 0;
  UPDATE owners o SET nodes = o.nodes + c.value::int FROM jsonb_each_text(changes) c WHERE o.owner = c.key AND c.value <> '0';
  INSERT INTO owners (owner, nodes)
    SELECT c.key, c.value::int FROM jsonb_each_text(changes) c
    WHERE c.value::int > 0 AND NOT EXISTS (SELECT FROM owners o WHERE o.owner = c.key);
  UPDATE totals SET owners = owners - before + (SELECT count(*) FROM owners WHERE owner IN (SELECT jsonb_object_keys(changes)));
END $$;

CREATE FUNCTION nodes_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE totals SET nodes = nodes + (SELECT count(*) FROM added),
    withdrawn_wei = withdrawn_wei + (SELECT coalesce(sum(withdrawn_wei), 0) FROM added);
  PERFORM count_owners((SELECT coalesce(jsonb_object_agg(owner, n), '{}') FROM (SELECT owner, count(*) n FROM added GROUP BY owner) c));
  RETURN NULL;
END $$;
CREATE TRIGGER nodes_inserted AFTER INSERT ON nodes
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION nodes_inserted();

CREATE FUNCTION nodes_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE totals SET nodes = nodes - (SELECT count(*) FROM removed),
    withdrawn_wei = withdrawn_wei - (SELECT coalesce(sum(withdrawn_wei), 0) FROM removed);
  PERFORM count_owners((SELECT coalesce(jsonb_object_agg(owner, -n), '{}') FROM (SELECT owner, count(*) n FROM removed GROUP BY owner) c));
  RETURN NULL;
END $$;
CREATE TRIGGER nodes_deleted AFTER DELETE ON nodes
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION nodes_deleted();

CREATE FUNCTION nodes_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE totals SET withdrawn_wei = withdrawn_wei
    + (SELECT coalesce(sum(withdrawn_wei), 0) FROM added) - (SELECT coalesce(sum(withdrawn_wei), 0) FROM removed);
  PERFORM count_owners((SELECT coalesce(jsonb_object_agg(owner, n), '{}') FROM (
    SELECT owner, sum(n) n FROM (
      SELECT owner, 1 n FROM added UNION ALL SELECT owner, -1 FROM removed
    ) c GROUP BY owner HAVING sum(n) <> 0) d));
  RETURN NULL;
END $$;
CREATE TRIGGER nodes_updated AFTER UPDATE ON nodes
  REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION nodes_updated();

CREATE FUNCTION rounds_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE totals SET rounds = rounds + (SELECT count(*) FROM added WHERE node_count > 0),
    distributed_wei = distributed_wei + (SELECT coalesce(sum(total_wei), 0) FROM added);
  RETURN NULL;
END $$;
CREATE TRIGGER rounds_inserted AFTER INSERT ON rounds
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION rounds_inserted();

CREATE FUNCTION rounds_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE totals SET rounds = rounds - (SELECT count(*) FROM removed WHERE node_count > 0),
    distributed_wei = distributed_wei - (SELECT coalesce(sum(total_wei), 0) FROM removed);
  RETURN NULL;
END $$;
CREATE TRIGGER rounds_deleted AFTER DELETE ON rounds
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION rounds_deleted();

-- Sales are the payments that became a node.
CREATE FUNCTION payments_sold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE totals SET sales_wei = sales_wei
    + CASE WHEN NEW.state = 'minted' THEN NEW.value_wei ELSE 0 END
    - CASE WHEN OLD.state = 'minted' THEN OLD.value_wei ELSE 0 END;
  RETURN NULL;
END $$;
CREATE TRIGGER payments_sold AFTER UPDATE OF state ON payments
  FOR EACH ROW WHEN ((OLD.state = 'minted') <> (NEW.state = 'minted')) EXECUTE FUNCTION payments_sold();

-- What each payments wallet should hold: base + in - out, at the followed block. Both sums are kept by the triggers below;
-- the base is what it held before the first block that is read for it or, where that state is gone, at the first block whose state could be
-- read, less what the ledger knew of by then.
CREATE TABLE wallet_books (
  wallet address PRIMARY KEY,
  in_wei wei NOT NULL DEFAULT 0,
  out_wei wei NOT NULL DEFAULT 0, -- fees included
  base_wei numeric(78, 0),
  base_block bigint,
  audited_block bigint, -- up to here the books agreed with the chain
  CHECK (num_nulls(base_wei, base_block, audited_block) IN (0, 3))
) WITH (fillfactor = 50);

CREATE FUNCTION wallet_entered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO wallet_books (wallet) VALUES (NEW.wallet) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER wallet_entered AFTER INSERT ON payment_wallets FOR EACH ROW EXECUTE FUNCTION wallet_entered();

CREATE FUNCTION wallet_credited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wallet_books b SET in_wei = in_wei + added.wei
  FROM (SELECT wallet, sum(value_wei) AS wei FROM added WHERE succeeded AND state <> 'orphaned' GROUP BY wallet) added
  WHERE b.wallet = added.wallet AND added.wei > 0;
  RETURN NULL;
END $$;
CREATE TRIGGER wallet_credited AFTER INSERT ON payments
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION wallet_credited();

CREATE FUNCTION wallet_recredited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A hash stands for one recipient; where they differ, a provider had misread it.
  UPDATE wallet_books SET in_wei = in_wei
    + CASE WHEN wallet = NEW.wallet AND NEW.succeeded AND NEW.state <> 'orphaned' THEN NEW.value_wei ELSE 0 END
    - CASE WHEN wallet = OLD.wallet AND OLD.succeeded AND OLD.state <> 'orphaned' THEN OLD.value_wei ELSE 0 END
  WHERE wallet IN (OLD.wallet, NEW.wallet);
  RETURN NULL;
END $$;
CREATE TRIGGER wallet_recredited AFTER UPDATE OF state ON payments
  FOR EACH ROW WHEN ((OLD.state = 'orphaned') <> (NEW.state = 'orphaned')) EXECUTE FUNCTION wallet_recredited();

CREATE FUNCTION wallet_debited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wallet_books b SET out_wei = out_wei + added.wei
  FROM (SELECT wallet, sum(value_wei + fee_wei) AS wei FROM added GROUP BY wallet) added WHERE b.wallet = added.wallet;
  RETURN NULL;
END $$;
CREATE TRIGGER wallet_debited AFTER INSERT ON wallet_outflows
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION wallet_debited();

CREATE FUNCTION wallet_undebited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wallet_books b SET out_wei = out_wei - removed.wei
  FROM (SELECT wallet, sum(value_wei + fee_wei) AS wei FROM removed GROUP BY wallet) removed WHERE b.wallet = removed.wallet;
  RETURN NULL;
END $$;
CREATE TRIGGER wallet_undebited AFTER DELETE ON wallet_outflows
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION wallet_undebited();

------------------------------------------------------------------------------------------------------ housekeeping

-- Sign-in nonces that have been used, until they lapse by themselves.
CREATE TABLE used_nonces (
  nonce_hash text PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX used_nonces_expiry ON used_nonces (expires_at);

-- Each pass's last run.
CREATE TABLE passes (
  name text PRIMARY KEY,
  started_at timestamptz NOT NULL,
  finished_at timestamptz,
  succeeded_at timestamptz, -- when it last ended well, for alerts: "finished_at" is also that of a run that failed
  outcome jsonb,
  error text
) WITH (fillfactor = 50);

-- Facts about this ledger (which chain, which factory) and the operator's switches.
CREATE TABLE settings (
  name text PRIMARY KEY,
  value jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  updated_by text NOT NULL
);

-- The ether price that all callers on all instances share; `attempted_at` keeps the upstream to one request a minute.
CREATE TABLE price (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  usd double precision,
  attempted_at timestamptz NOT NULL
);

-- What an ether was worth, once an hour, for as long as somebody asked and the upstream knew. An hour without a quote has no row.
CREATE TABLE price_history (
  hour timestamptz PRIMARY KEY CHECK (hour = date_trunc('hour', hour, 'UTC')),
  usd double precision NOT NULL CHECK (usd > 0),
  quoted_at timestamptz NOT NULL
);

-- What somebody or something decided or found, for the operator to read. Rows are never changed.
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  subject text,
  detail jsonb NOT NULL DEFAULT '{}',
  request_id text -- of the request an act came with; null for what a pass or the command line did
);
CREATE INDEX audit_subject ON audit (subject, id DESC) WHERE subject IS NOT NULL;
-- What a stolen key leaves behind: empty in a healthy ledger, counted by every scrape.
CREATE INDEX audit_thefts ON audit (at) WHERE action IN ('foreignTransaction', 'restored', 'refTaken', 'mintedElsewhere');

--------------------------------------------------------------------------------------------------- the operator's acts

-- An answer under the key its caller gave: the same request again gets the same answer. Rows go after two days.
CREATE TABLE idempotency_keys (
  actor text NOT NULL,
  key text NOT NULL CHECK (length(key) BETWEEN 1 AND 128),
  -- Of method, path and body.
  digest text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  -- Null while the act is under way. One that a crash left so is taken over after a while.
  answer text,
  PRIMARY KEY (actor, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (started_at);

-- What proves that a payment was paid back. One transaction proves one payment only.
CREATE TABLE refunds (
  payment_ref hash PRIMARY KEY,
  tx_hash hash NOT NULL UNIQUE,
  from_address address NOT NULL,
  to_address address NOT NULL,
  value_wei wei NOT NULL,
  block_number bigint NOT NULL,
  block_hash hash NOT NULL,
  -- Whether that block was final when it was last looked at; until then a reorganisation may take the refund back.
  final boolean NOT NULL DEFAULT false,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  recorded_by text NOT NULL
);
CREATE INDEX refunds_open ON refunds (block_number) WHERE NOT final;
CREATE INDEX refunds_block ON refunds (block_number);

-- Who sent value that came by an internal call, as the operator had it traced. The payment was filed by its block alone, as `residue_ref`;
-- from then on it is the inner transfer itself, until its block is reorganised out.
CREATE TABLE attributions (
  residue_ref hash PRIMARY KEY,
  ref hash NOT NULL UNIQUE,
  tx_hash hash NOT NULL,
  tx_index int NOT NULL,
  inner_index int NOT NULL CHECK (inner_index > 0),
  from_address address NOT NULL,
  attributed_at timestamptz NOT NULL DEFAULT now(),
  attributed_by text NOT NULL
);

-------------------------------------------------------------------------------------------------------- telling others

-- Webhooks: every event is written in the transaction of the fact it tells of, by triggers, so that no path can forget one and
-- none is told that did not happen. Delivering is somebody else's work. While nobody is to be told, nothing is written.

-- Who is told, for all instances. Named by host and a digest of the URL, which may itself be a secret, as its signing secrets are: neither is
-- shown by anything that reads this. One that was removed keeps its row for its deliveries.
CREATE TABLE webhook_endpoints (
  endpoint text PRIMARY KEY,
  url text NOT NULL,
  secrets text[] NOT NULL CHECK (cardinality(secrets) BETWEEN 1 AND 2), -- the newest first; events are signed with each
  active boolean NOT NULL DEFAULT true, -- false once it was removed
  added_by text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
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
CREATE TRIGGER webhook_round AFTER INSERT ON rounds FOR EACH ROW WHEN (NEW.node_count > 0) EXECUTE FUNCTION webhook_round();

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
DECLARE
  former jsonb;
BEGIN
  IF NEW.name = 'drift' AND jsonb_array_length(NEW.value) > 0 THEN
    PERFORM webhook_emit('drift.found', concat_ws(' ', NEW.value, NEW.updated_at), jsonb_build_object(
      'count', jsonb_array_length(NEW.value), 'drifts', jsonb_path_query_array(NEW.value, '$[0 to 19]')));
  ELSIF NEW.name LIKE 'funds %' AND NEW.value ->> 'low' = 'true' THEN
    -- Each time they become low, not each time the figures change.
    IF TG_OP = 'UPDATE' AND OLD.value ->> 'low' = 'true' THEN RETURN NULL; END IF;
    PERFORM webhook_emit('funds.low', concat_ws(' ', NEW.name, NEW.updated_at), NEW.value - 'low');
  ELSIF NEW.name = 'budget' THEN
    former := CASE WHEN TG_OP = 'UPDATE' THEN OLD.value ELSE '{}' END;
    IF NEW.value -> 'low' <> '[]' AND (former -> 'low') IS DISTINCT FROM (NEW.value -> 'low') THEN
      PERFORM webhook_emit('budget.low', concat_ws(' ', 'low', NEW.updated_at), NEW.value - 'spent');
    END IF;
    IF NEW.value ->> 'spent' IS NOT NULL AND (former ->> 'spent') IS DISTINCT FROM (NEW.value ->> 'spent') THEN
      PERFORM webhook_emit('budget.spent', concat_ws(' ', 'spent', NEW.updated_at), NEW.value - 'low');
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_setting AFTER INSERT OR UPDATE ON settings
  FOR EACH ROW WHEN (NEW.name IN ('drift', 'budget') OR NEW.name LIKE 'funds %') EXECUTE FUNCTION webhook_setting();

-- A reorganisation that took back what may have been told.
CREATE FUNCTION webhook_reorganisation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM webhook_emit('chain.reorganised', NEW.id || ' ' || NEW.at, NEW.detail);
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_reorganisation AFTER INSERT ON audit
  FOR EACH ROW WHEN (NEW.action = 'reorganisation') EXECUTE FUNCTION webhook_reorganisation();
