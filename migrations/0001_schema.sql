-- The ledger's schema. The ledger is a projection of the chain plus the operator's own decisions. Every row that came from a block carries the
-- block's number and hash, so that a reorganisation can remove it.
--
-- Tables come in the order of the story: the chain that is followed, the sale, what we send, payments, nodes, rounds, withdrawals, what reads need,
-- the operator's acts and keys, and webhooks. Constraints, indexes and triggers are next to their table. A trigger that maintains the sums of another
-- table is next to that table. docs/DATA-MODEL.md says where the rows of each table come from.
--
-- Until 0.1.0 is tagged, a change of the schema is made here. From then on this file is never edited: a change is a new file beside it.

-- Checks a length, and a pattern without a count. A pattern with a count would check the same, but takes PostgreSQL five times as long.
CREATE DOMAIN address AS text CHECK (length(VALUE) = 42 AND VALUE ~ '^0x[0-9a-f]+$');
CREATE DOMAIN hash AS text CHECK (length(VALUE) = 66 AND VALUE ~ '^0x[0-9a-f]+$');
CREATE DOMAIN wei AS numeric(78, 0) CHECK (VALUE BETWEEN 0 AND 115792089237316195423570985008687907853269984665640564039457584007913129639935);

-- A time as the API writes it: in UTC, whatever the session's time zone.
CREATE FUNCTION iso(at timestamptz) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

------------------------------------------------------------------------------------------------ following the chain

-- The headers of the last 8,192 blocks: we find a reorganisation with them, and read seeds from them. Older headers are pruned. There is no index on
-- the hash, because no query looks for a hash, and none on the time, because times rise with the numbers. Each header is checked against its parent,
-- so no block can be stored at two heights.
CREATE TABLE blocks (
  number bigint PRIMARY KEY CHECK (number >= 0),
  hash hash NOT NULL,
  parent_hash hash NOT NULL,
  time bigint NOT NULL, -- unix seconds
  prevrandao hash NOT NULL
);

-- The price of gas in the last followed blocks, in wei per gas. It limits the fee that a provider can make us offer.
CREATE TABLE block_fees (
  number bigint PRIMARY KEY,
  base_fee_wei wei, -- null if this chain has no base fee
  tip_wei wei -- the median tip of other accounts; null if none paid a tip
);

-- The block up to which the ledger has followed: one row, `follow`.
CREATE TABLE cursors (
  name text PRIMARY KEY,
  block_number bigint NOT NULL,
  block_hash hash NOT NULL,
  block_time bigint NOT NULL
);

-- What the followed blocks are worth, from a block on: `proven` if each must match its hash, with its lists; `agreed` if this chain's blocks cannot be
-- proven, so that two providers must say the same. The first run finds the mode. After that only a person changes it.
CREATE TABLE evidence_modes (
  from_block bigint PRIMARY KEY CHECK (from_block >= 0),
  mode text NOT NULL CHECK (mode IN ('proven', 'agreed')),
  set_by text NOT NULL
);

-- The nonce and the block from which on we know all transactions of an account. We compare the nonce that a provider reports with these.
CREATE TABLE sender_bases (
  sender address PRIMARY KEY,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  block_number bigint NOT NULL
);

-- The first block at or after the time of a turn, which has the turn's seed. A turn may be paid long after its header was pruned, so these rows stay
-- until every cohort is paid beyond them.
CREATE TABLE seed_blocks (
  number bigint PRIMARY KEY,
  time bigint NOT NULL,
  parent_time bigint, -- null for a block without a parent
  seed hash NOT NULL,
  proof text NOT NULL CHECK (proof IN ('proven', 'agreed', 'believed')) -- what backs its time and its randomness
);
CREATE INDEX seed_blocks_time ON seed_blocks (time, number);

----------------------------------------------------------------------------------------------------------- the sale

-- A list of wallets, each with the number of nodes that it may buy, identified by the root of OpenZeppelin's StandardMerkleTree over them. Never
-- changed, except that it can be published.
CREATE TABLE allowlists (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  root hash NOT NULL UNIQUE,
  label text NOT NULL,
  entries int NOT NULL CHECK (entries > 0),
  allocated bigint NOT NULL CHECK (allocated >= entries), -- the sum of the allocations
  entered_at timestamptz NOT NULL DEFAULT now(),
  entered_by text NOT NULL,
  published boolean NOT NULL DEFAULT false -- anyone may read all of it
);
CREATE TABLE allowlist_entries (
  list int NOT NULL REFERENCES allowlists,
  address address NOT NULL,
  allocation int NOT NULL CHECK (allocation > 0),
  leaf int NOT NULL CHECK (leaf >= 0), -- the position of its leaf among the nodes of the tree
  PRIMARY KEY (list, address)
);
-- The nodes of a list's tree, 32 bytes each, 1,024 to a page. PostgreSQL can read part of a page without the rest, because hashes are not compressed.
CREATE TABLE allowlist_nodes (
  list int NOT NULL REFERENCES allowlists,
  page int NOT NULL CHECK (page >= 0),
  nodes bytea NOT NULL,
  PRIMARY KEY (list, page)
);
-- PostgreSQL 15 has no STORAGE in CREATE TABLE.
ALTER TABLE allowlist_nodes ALTER COLUMN nodes SET STORAGE EXTERNAL;

-- A version of a tier, in force from a block on until the next one by (from_time, version) takes effect. A change entered ahead has no first block
-- until the follower stores it, and then the terms that it does not name. Of other versions only `live` is ever changed.
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
  holding_retry_sec int NOT NULL DEFAULT 3600 CHECK (holding_retry_sec >= 0), -- for how long we retry a holding that cannot be read
  payout_bps int NOT NULL CHECK (payout_bps BETWEEN 0 AND 1000000),
  on_sale boolean NOT NULL,
  grace_sec int NOT NULL DEFAULT 900 CHECK (grace_sec >= 0), -- for how long the previous version still buys the tier
  supply int CHECK (supply > 0), -- nodes of this tier that may ever be sold; null: no limit
  opens_at bigint, -- unix seconds of block time, like closes_at; null: open from the first block of the version on
  allowlist hash REFERENCES allowlists (root), -- the root of the list of those who may buy; null: anyone
  closes_at bigint, -- a tier on sale until then still sells for the grace period; null: never
  opens_after text, -- the tier that must be sold out first; null: none
  live boolean NOT NULL DEFAULT true, -- the latest version of its tier
  from_block bigint, -- the first block that is not before from_time; an estimate until we follow it
  from_time bigint NOT NULL, -- unix seconds
  names text[], -- the terms that a change entered ahead names; null: it was not entered ahead
  cancelled boolean NOT NULL DEFAULT false, -- a planned change that was taken back; its row keeps its number
  made_with bytea, -- the digest of the key or passkey that entered it; null: the command line
  entered_at timestamptz NOT NULL DEFAULT now(),
  entered_by text NOT NULL,
  PRIMARY KEY (tier_id, version),
  CHECK ((holding_wei = 0) = (holding_token IS NULL)),
  CHECK (closes_at > opens_at),
  CHECK (from_block IS NOT NULL OR (names IS NOT NULL AND NOT live))
);
-- A step of a ladder that has opened, behind the payment that took the last place of the tier before it. It never closes again.
CREATE TABLE tier_openings (
  tier_id text NOT NULL,
  opens_after text NOT NULL,
  from_block bigint NOT NULL,
  tx_index int NOT NULL, -- -1: no payment took that place, and the step sells in the whole block
  inner_index int NOT NULL,
  PRIMARY KEY (tier_id, opens_after)
);
CREATE UNIQUE INDEX tiers_live ON tiers (tier_id) WHERE live;
CREATE UNIQUE INDEX tiers_live_no ON tiers (tier_no) WHERE live;
CREATE INDEX tiers_no ON tiers (tier_no, from_time);

-- A version of a referral code, in force from a block on until the next version. Never changed.
CREATE TABLE referral_codes (
  code text NOT NULL CHECK (code ~ '^[a-z0-9_-]{1,32}$'),
  version int NOT NULL CHECK (version > 0),
  payee address NOT NULL,
  commission_bps int NOT NULL CHECK (commission_bps BETWEEN 0 AND 2000), -- the payee's share of the price
  opens_at bigint, -- unix seconds of block time, like closes_at; null: no limit
  closes_at bigint,
  wait_sec bigint NOT NULL DEFAULT 0 CHECK (wait_sec >= 0), -- a commission is due this long after the mint
  from_block bigint NOT NULL,
  entered_at timestamptz NOT NULL DEFAULT now(),
  entered_by text NOT NULL,
  PRIMARY KEY (code, version),
  CHECK (closes_at > opens_at)
);

-- The credit terms from a time on: whether turns are owed, the range of a turn's draw, and the schedule that new nodes join. The first row is in
-- force from time 0. Rows are never changed. A row that is not in force yet may be removed.
CREATE TABLE credit_terms (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  from_time bigint NOT NULL UNIQUE CHECK (from_time >= 0), -- unix seconds of block time
  payouts boolean NOT NULL, -- false: turns due from then on are not owed, once the contract's owner has declared that on chain
  min_wei wei NOT NULL,
  max_wei wei NOT NULL,
  interval_sec bigint NOT NULL CHECK (interval_sec > 0),
  slot_sec bigint NOT NULL CHECK (slot_sec > 0 AND interval_sec % slot_sec = 0),
  entered_at timestamptz NOT NULL DEFAULT now(),
  entered_by text NOT NULL,
  CHECK (min_wei <= max_wei)
);

-- The payments wallets, in order of entry. Buyers see the last wallet in force. All wallets that are not closed are watched. Rows are never changed,
-- except to close them.
CREATE TABLE payment_wallets (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  wallet address NOT NULL UNIQUE,
  -- The wallet is in force in blocks that are neither below `from_block` nor older than `from_time`.
  from_block bigint NOT NULL CHECK (from_block >= 0),
  from_time bigint NOT NULL CHECK (from_time >= 0), -- unix seconds of block time
  stolen boolean NOT NULL DEFAULT false, -- the earlier wallets were stolen: once this one is in force, no payment to them is a sale
  grace_sec int NOT NULL DEFAULT 900 CHECK (grace_sec >= 0), -- for how long a payment to the previous wallet is still a sale
  watched_from bigint NOT NULL CHECK (watched_from >= 0), -- the first block that we read for it
  closed_block bigint, -- the last block that we read for it
  entered_at timestamptz NOT NULL DEFAULT now(),
  entered_by text NOT NULL,
  closed_at timestamptz,
  closed_by text,
  CHECK (num_nulls(closed_block, closed_at, closed_by) IN (0, 3))
);

-- The deny list: wallets whose payments the operator wants to see first, such as wallets of exchanges, whose senders are not the buyers.
CREATE TABLE senders (
  address address PRIMARY KEY,
  label text NOT NULL CHECK (length(label) BETWEEN 1 AND 64),
  reason text NOT NULL,
  added_by text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now()
);

-- Who may buy by an internal call, from a block on. That is how a Safe and other contract wallets pay. Without a row all such payments are held.
CREATE TABLE contract_wallet_modes (
  from_block bigint PRIMARY KEY CHECK (from_block >= 0),
  mode text NOT NULL CHECK (mode IN ('hold', 'proven', 'all')),
  entered_at timestamptz NOT NULL DEFAULT now(),
  entered_by text NOT NULL
);

-- Contracts that the operator knows to be a person's wallet. They may buy in the mode `proven`.
CREATE TABLE allowed_wallets (
  address address PRIMARY KEY,
  label text NOT NULL,
  reason text NOT NULL,
  added_by text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now()
);

-- Contracts that have signed in here, so a person signs for them. `deployed`: there was code at the address then.
CREATE TABLE proven_wallets (
  address address PRIMARY KEY,
  deployed boolean NOT NULL,
  proven_at timestamptz NOT NULL DEFAULT now()
);

--------------------------------------------------------------------------------------------------------- what we send

-- An intent to send, stored signed before it is sent. It may need several attempts. `foreign`: a followed transaction of one of our senders that no
-- intent made. We record it, so that its nonce is never used again.
CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('openCohorts', 'mint', 'credit', 'foreign')),
  sender address NOT NULL,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  call jsonb NOT NULL, -- the call to the factory, wei as decimal strings
  gas_limit bigint NOT NULL,
  guard_block bigint,
  valid_until bigint, -- the last block time at which it can be executed, unix seconds; null for a foreign transaction
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'mined', 'reverted', 'displaced')),
  block_number bigint,
  block_hash hash,
  block_time timestamptz, -- kept here, because the header is pruned
  -- The attempt that was mined, or the foreign transaction that took the nonce. Null if neither is in a followed block.
  tx_hash hash,
  gas_used bigint,
  fee_wei wei,
  -- What it moved and to whom, according to its block; null while it is in no block.
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
-- Whether the contract has confirmed the hash of a block or of a later one, and whether the guard was ever used.
CREATE INDEX outbox_guard ON outbox (guard_block) WHERE guard_block IS NOT NULL;
-- The operator lists transactions newest first, by sender and by state.
CREATE INDEX outbox_sender ON outbox (sender, id DESC);
CREATE INDEX outbox_state ON outbox (state, id DESC);
-- Signed mints that may still be executed: those of the last hour or so.
CREATE INDEX outbox_mints_valid ON outbox (valid_until) WHERE kind = 'mint';
CREATE INDEX outbox_time ON outbox (block_time) WHERE block_time IS NOT NULL;

CREATE FUNCTION outbox_block_time() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.block_time := (SELECT to_timestamp(time) FROM blocks WHERE number = NEW.block_number);
  RETURN NEW;
END $$;
CREATE TRIGGER outbox_timed BEFORE INSERT OR UPDATE OF block_number ON outbox
  FOR EACH ROW EXECUTE FUNCTION outbox_block_time();

-- Every signed transaction, byte for byte, stored before any provider sees it.
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

-- A transfer to a payments wallet. `inner_index` is 0 for the transaction's own transfer, and counts from 1 for inner transfers, by which contract
-- wallets pay. The hash is null only for a residue: value that the balance check found and that no transaction explains.
CREATE TABLE payments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tx_hash hash,
  inner_index int NOT NULL DEFAULT 0 CHECK (inner_index >= 0),
  ref hash NOT NULL UNIQUE, -- the ref that its mint carries on chain
  wallet address NOT NULL, -- the payments wallet that received it
  from_address address,
  value_wei wei NOT NULL,
  succeeded boolean NOT NULL,
  -- What backs its sender and value: the block's hash, two providers, or one provider's word. Null if only a trace or a person says so.
  proof text CHECK (proof IN ('proven', 'agreed', 'believed')),
  unsigned_type int, -- the type of a transaction without a signature, such as a deposit from a parent chain; null for all others
  codes text, -- the referral codes in its calldata, separated by commas, registered or not
  state text NOT NULL DEFAULT 'seen'
    CHECK (state IN ('seen', 'accepted', 'minting', 'minted', 'held', 'refunded', 'dismissed', 'orphaned', 'ignored')),
  -- `refunding`: a refund is prepared, and waits until no signed mint for the payment can be executed any longer. `contractWallet`: a contract sent
  -- it, and nothing shows yet that the contract is a person's wallet.
  reason text CHECK (reason IN ('wrongAmount', 'saleClosed', 'notOpenYet', 'soldOut', 'notListed', 'tierAllowance', 'holding', 'walletLimit', 'senderDenied',
    'unattributed', 'mintReverted', 'supplySpent', 'mintedElsewhere', 'oldWallet', 'recheck', 'refunding', 'contractWallet', 'self', 'operator', 'zero',
    'failed')),
  tier_id text,
  tier_version int,
  outbox_id bigint REFERENCES outbox, -- the mint that includes it
  node_id bigint, -- set if and only if the payment is minted
  block_number bigint, -- null while orphaned
  block_hash hash,
  tx_index int,
  block_time timestamptz NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (tier_id, tier_version) REFERENCES tiers,
  UNIQUE (tx_hash, wallet, inner_index), -- one transaction may make several payments, to several wallets
  CHECK ((state = 'orphaned') = (block_number IS NULL)),
  CHECK ((block_number IS NULL) = (block_hash IS NULL)),
  CHECK ((reason IS NOT NULL) = (state IN ('held', 'ignored')) OR state IN ('refunded', 'dismissed', 'orphaned')),
  -- A minted payment may lack a tier: if the chain has its node, it counts as minted even before the operator has entered the tiers.
  CHECK (state NOT IN ('accepted', 'minting') OR tier_id IS NOT NULL),
  -- Value without a proven sender cannot be a sale: it can only be refunded or dismissed.
  CHECK (from_address IS NOT NULL OR state IN ('held', 'refunded', 'dismissed', 'orphaned')),
  CHECK (tx_hash IS NOT NULL OR from_address IS NULL),
  CHECK (state <> 'minting' OR outbox_id IS NOT NULL),
  CHECK ((state = 'minted') = (node_id IS NOT NULL))
);
CREATE UNIQUE INDEX payments_node ON payments (node_id) WHERE node_id IS NOT NULL;
CREATE INDEX payments_open ON payments (block_number, tx_index, inner_index) WHERE state IN ('seen', 'accepted', 'minting');
CREATE INDEX payments_held ON payments (block_number) WHERE state = 'held';
CREATE INDEX payments_wallet ON payments (from_address, tier_id) WHERE state IN ('accepted', 'minting');
CREATE INDEX payments_block ON payments (block_number);
CREATE INDEX payments_codes ON payments (block_number) WHERE codes IS NOT NULL;
-- A payee asks what its own codes sold.
CREATE INDEX payments_code ON payments USING gin (string_to_array(codes, ',')) WHERE codes IS NOT NULL;
CREATE INDEX payments_outbox ON payments (outbox_id) WHERE outbox_id IS NOT NULL;
-- The operator lists payments newest first, by state, by reason, or by both. A dismissed payment keeps its reason, so neither of the other two
-- indexes would serve both. A payment is soon no longer `seen`, and until then it is in payments_open.
CREATE INDEX payments_settled ON payments (state, id DESC) WHERE state <> 'seen';
CREATE INDEX payments_state_reason ON payments (state, reason, id DESC) WHERE reason IS NOT NULL;
CREATE INDEX payments_reason ON payments (reason, id DESC) WHERE reason IS NOT NULL;
CREATE INDEX payments_tier ON payments (tier_id, id DESC) WHERE tier_id IS NOT NULL;
-- Bulk dismissal looks at small held payments only.
CREATE INDEX payments_held_value ON payments (value_wei) WHERE state = 'held';
-- Anyone may ask what a wallet has paid. Ignored transfers are left out, because one wallet can make many of them.
CREATE INDEX payments_payer ON payments (from_address, id DESC) WHERE state <> 'ignored';
-- Residues are few, and each payments pass looks for residues to trace again.
CREATE INDEX payments_residue ON payments (block_number) WHERE tx_hash IS NULL;
-- The operator's trends read a range of time, whatever the ledger's age.
CREATE INDEX payments_time ON payments (block_time) WHERE state <> 'ignored';

-- A verdict on a payment with its evidence: the rule, the facts it examined, and who decided. If a refund is cancelled, its verdict is withdrawn, and
-- the previous verdict applies again. Nothing else in a verdict is ever changed.
CREATE TABLE payment_verdicts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment_id bigint NOT NULL REFERENCES payments,
  verdict text NOT NULL CHECK (verdict IN ('accepted', 'held', 'ignored', 'refunded', 'dismissed')),
  reason text,
  evidence jsonb NOT NULL,
  decided_by text NOT NULL, -- 'pass' or the operator's label
  decided_at timestamptz NOT NULL DEFAULT now(),
  withdrawn_at timestamptz,
  withdrawn_by text,
  CHECK ((withdrawn_at IS NULL) = (withdrawn_by IS NULL))
);
CREATE INDEX payment_verdicts_payment ON payment_verdicts (payment_id, id DESC);
CREATE VIEW standing_verdicts AS SELECT * FROM payment_verdicts WHERE withdrawn_at IS NULL;

-- The code of an inner transfer's sender after exactly the transfer's block. It is read only once, because providers forget old states. If the
-- transfer returns in another block, it is read again.
CREATE TABLE payer_codes (
  payment_id bigint PRIMARY KEY REFERENCES payments ON DELETE CASCADE,
  block_hash hash NOT NULL,
  code jsonb NOT NULL CHECK (code ->> 'kind' IN ('none', 'delegation', 'contract'))
);

-- A payment for which we could not read a fact, and the block time from which on we try again. Later payments of the same wallet wait with it. Once a
-- payment is decided, the judge removes its row.
CREATE TABLE payment_retries (
  payment_id bigint PRIMARY KEY REFERENCES payments ON DELETE CASCADE,
  retry_time bigint NOT NULL
);

-- The transfer that proves that a payment was refunded, or that a commission was paid. One transaction may refund several buyers, for example a
-- Safe's batch: each transfer in it proves one refund. `inner_index` is the transfer's position among the transaction's inner transfers to the
-- recipient, from 1, and 0 for the transaction's own transfer.
CREATE TABLE refunds (
  payment_ref hash UNIQUE, -- the payment that it refunded
  commission_of text, -- or the referral code whose payee it paid
  tx_hash hash NOT NULL,
  inner_index int NOT NULL DEFAULT 0 CHECK (inner_index >= 0),
  from_address address NOT NULL,
  to_address address NOT NULL,
  value_wei wei NOT NULL,
  block_number bigint NOT NULL,
  block_hash hash NOT NULL,
  -- Whether the block was final when we last looked. Until it is final, a reorganisation may remove the refund.
  final boolean NOT NULL DEFAULT false,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  recorded_by text NOT NULL,
  -- One transfer proves one refund or one commission.
  CONSTRAINT refunds_transfer_key PRIMARY KEY (tx_hash, to_address, inner_index),
  CHECK ((payment_ref IS NULL) <> (commission_of IS NULL))
);
CREATE INDEX refunds_open ON refunds (block_number) WHERE NOT final;
CREATE INDEX refunds_block ON refunds (block_number);
-- What codes were paid. There are many more refunds.
CREATE INDEX refunds_commission ON refunds (commission_of, to_address) WHERE commission_of IS NOT NULL;

-- The inner transfers that the operator found in residues, each with its payer. A part is a payment of its own. The transfer that is all that was left
-- of a residue (`is_rest`) takes over the residue's row, and `ref` becomes the row's ref. Both last until the block is reorganised out.
CREATE TABLE attributions (
  ref hash PRIMARY KEY,
  residue_ref hash NOT NULL,
  is_rest boolean NOT NULL,
  wallet address,
  value_wei wei,
  tx_hash hash NOT NULL,
  tx_index int NOT NULL,
  inner_index int NOT NULL CHECK (inner_index > 0),
  from_address address NOT NULL,
  proof text NOT NULL DEFAULT 'trace' CHECK (proof IN ('trace', 'stated')), -- `stated`: no provider has the trace, so we rely on the operator
  attributed_at timestamptz NOT NULL DEFAULT now(),
  attributed_by text NOT NULL,
  CHECK (is_rest OR num_nulls(wallet, value_wei) = 0)
);
CREATE INDEX attributions_residue ON attributions (residue_ref);
CREATE UNIQUE INDEX attributions_rest ON attributions (residue_ref) WHERE is_rest;

-- When a residue was last traced again, so that each gets its turn. If a residue is gone, the balance check removes its row.
CREATE TABLE residue_traces (
  ref hash PRIMARY KEY,
  tries int NOT NULL DEFAULT 0,
  tried_at timestamptz NOT NULL DEFAULT now(),
  -- What a trace shows of a residue that stays, because it is decided or because the trace contradicts its attributions.
  shown jsonb,
  -- True if it was decided in the ledger from which this one was rebuilt. Then it stays whole, whatever a trace shows.
  kept boolean NOT NULL DEFAULT false,
  -- When we next try to prove the balances that it rests on. Null if all of them are proven.
  prove_at timestamptz,
  -- True if it covers several blocks, because no provider had the states in between.
  is_wide boolean NOT NULL DEFAULT false
);

-- How many blocks all instances traced on a day, and how many of these traces had no result.
CREATE TABLE trace_days (
  day date PRIMARY KEY,
  traced int NOT NULL DEFAULT 0,
  failed int NOT NULL DEFAULT 0
);

-- A transfer of so little that refunding it would cost more. A flood of such transfers costs its sender gas and must cost the ledger less. So they
-- have no verdict, no event and no row in the audit log. A payment is looked up in many ways, but dust is only summed. So its row is small, with
-- hashes and addresses as bytes.
CREATE TABLE dust (
  block_number bigint NOT NULL,
  tx_index int NOT NULL,
  wallet_id int NOT NULL REFERENCES payment_wallets, -- the payments wallet that received it
  inner_index int NOT NULL DEFAULT 0 CHECK (inner_index >= 0),
  tx_hash bytea NOT NULL CHECK (length(tx_hash) = 32),
  from_address bytea NOT NULL CHECK (length(from_address) = 20),
  value_wei wei NOT NULL CHECK (value_wei > 0),
  PRIMARY KEY (tx_hash, wallet_id, inner_index)
);
CREATE INDEX dust_block ON dust (block_number);

-- How many transfers of zero value a payments wallet received in a block.
CREATE TABLE zero_transfers (
  block_number bigint NOT NULL,
  wallet_id int NOT NULL REFERENCES payment_wallets,
  transfers int NOT NULL CHECK (transfers > 0),
  PRIMARY KEY (block_number, wallet_id)
);

-- Dust and zero-value transfers are removed with their blocks, when the cursor goes back.
CREATE FUNCTION junk_rewound() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  height bigint := CASE WHEN TG_OP = 'UPDATE' THEN NEW.block_number ELSE -1 END;
BEGIN
  DELETE FROM dust WHERE block_number > height;
  DELETE FROM zero_transfers WHERE block_number > height;
  RETURN NULL;
END $$;
CREATE TRIGGER junk_rewound AFTER UPDATE ON cursors
  FOR EACH ROW WHEN (NEW.name = 'follow' AND NEW.block_number < OLD.block_number) EXECUTE FUNCTION junk_rewound();
CREATE TRIGGER junk_forgotten AFTER DELETE ON cursors
  FOR EACH ROW WHEN (OLD.name = 'follow') EXECUTE FUNCTION junk_rewound();

-- Ether that left a payments wallet, by a transaction of its own or by a transfer inside one. The hash is null only for value that the balance check
-- found missing and that no transaction explains.
CREATE TABLE wallet_outflows (
  ref hash PRIMARY KEY,
  tx_hash hash,
  inner_index int NOT NULL DEFAULT 0 CHECK (inner_index >= 0),
  wallet address NOT NULL, -- the payments wallet that it left
  to_address address,
  value_wei wei NOT NULL, -- 0 if it reverted
  fee_wei wei NOT NULL,
  -- Value that no transaction explains may have left in several blocks, from this block on. Null for a transaction's outflow.
  from_block bigint CHECK (from_block <= block_number),
  block_number bigint NOT NULL,
  block_hash hash NOT NULL,
  block_time timestamptz NOT NULL,
  UNIQUE (tx_hash, wallet, inner_index)
);
CREATE INDEX wallet_outflows_block ON wallet_outflows (block_number);
-- Whether ether went back to a payer. The judge looks for that before it gives a late payment a place.
CREATE INDEX wallet_outflows_to ON wallet_outflows (to_address, block_number);
CREATE INDEX wallet_outflows_residue ON wallet_outflows (block_number) WHERE tx_hash IS NULL;

-- What a payments wallet should hold at the followed block: base + in - out. The base is its balance before the first block that we read for it. If
-- that state is gone, the base is its balance at the first block whose state we can read, minus what the ledger had booked by then. The triggers
-- below maintain both sums and both counts, so that no read has to sum.
CREATE TABLE wallet_books (
  wallet address PRIMARY KEY,
  in_wei wei NOT NULL DEFAULT 0,
  out_wei wei NOT NULL DEFAULT 0, -- fees included
  base_wei numeric(78, 0),
  base_block bigint,
  audited_block bigint, -- the last block at which the books agreed with the chain
  audited_proof text CHECK (audited_proof IN ('proven', 'agreed', 'believed')), -- what backs its balance there
  dust_transfers bigint NOT NULL DEFAULT 0 CHECK (dust_transfers >= 0),
  zero_transfers bigint NOT NULL DEFAULT 0 CHECK (zero_transfers >= 0),
  CHECK (num_nulls(base_wei, base_block, audited_block, audited_proof) IN (0, 4))
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
  -- A hash belongs to one recipient. If the two differ, a provider had misread it.
  UPDATE wallet_books SET in_wei = in_wei
    + CASE WHEN wallet = NEW.wallet AND NEW.succeeded AND NEW.state <> 'orphaned' THEN NEW.value_wei ELSE 0 END
    - CASE WHEN wallet = OLD.wallet AND OLD.succeeded AND OLD.state <> 'orphaned' THEN OLD.value_wei ELSE 0 END
  WHERE wallet IN (OLD.wallet, NEW.wallet);
  RETURN NULL;
END $$;
CREATE TRIGGER wallet_recredited AFTER UPDATE OF state ON payments
  FOR EACH ROW WHEN ((OLD.state = 'orphaned') <> (NEW.state = 'orphaned')) EXECUTE FUNCTION wallet_recredited();

-- If a part is taken from a residue, the residue shrinks: the books then count the part and the rest.
CREATE FUNCTION wallet_revalued() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wallet_books SET in_wei = in_wei + NEW.value_wei - OLD.value_wei WHERE wallet = NEW.wallet;
  RETURN NULL;
END $$;
CREATE TRIGGER wallet_revalued AFTER UPDATE OF value_wei ON payments
  FOR EACH ROW WHEN (OLD.value_wei <> NEW.value_wei AND NEW.succeeded AND OLD.state <> 'orphaned' AND NEW.state <> 'orphaned')
  EXECUTE FUNCTION wallet_revalued();

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

-------------------------------------------------------------------------------------------------------------- nodes

-- A cohort. All of its nodes are due together and get the same amount. `per_node_wei` is the total credit of a node that has been in it from the
-- start. No column that a round writes has an index, so that a round's updates stay within the page.
CREATE TABLE cohorts (
  cohort int PRIMARY KEY CHECK (cohort BETWEEN 1 AND 65535),
  tier_no int NOT NULL,
  interval_sec bigint NOT NULL CHECK (interval_sec > 0),
  next_due bigint NOT NULL, -- unix seconds
  size int NOT NULL DEFAULT 0 CHECK (size >= 0),
  per_node_wei wei NOT NULL DEFAULT 0,
  turn_count int NOT NULL DEFAULT 0, -- how many credits; one credit may cover several turns
  last_turn_at timestamptz,
  block_number bigint NOT NULL, -- the block in which it was opened
  block_hash hash NOT NULL,
  -- The interval with which it was opened, and the block from which on it has the interval that the contract's owner set. If neither the ledger's
  -- terms nor the owner explain a cohort, it takes no mints and is not credited. Null if the reconciler entered it without its opening.
  opened_interval_sec bigint,
  first_due bigint, -- unix seconds, as the next two
  opened_at bigint,
  owner_set_block bigint -- null if the owner never set it
) WITH (fillfactor = 50);
CREATE INDEX cohorts_tier ON cohorts (tier_no);

-- A cohort's state after a block, for rewinding. Pruned with the headers, except for each cohort's last row.
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

-- A node. Its row id is derived from its number, so that it survives a rebuild. Its total credit is the cohort's per_node_wei minus the value that
-- this had at its mint.
CREATE TABLE nodes (
  node_id bigint PRIMARY KEY CHECK (node_id > 0),
  id bigint GENERATED ALWAYS AS (1000000000 + node_id) STORED UNIQUE,
  owner address NOT NULL,
  cohort int REFERENCES cohorts, -- null once the node was expelled: no later turn is owed to it
  ref hash NOT NULL UNIQUE,
  payment_id bigint UNIQUE REFERENCES payments,
  per_node_at_mint_wei wei NOT NULL,
  turns_at_mint int NOT NULL,
  withdrawn_wei wei NOT NULL DEFAULT 0,
  mint_tx_hash hash NOT NULL,
  minted_at timestamptz NOT NULL,
  block_number bigint NOT NULL,
  block_hash hash NOT NULL,
  proof text NOT NULL DEFAULT 'believed' CHECK (proof IN ('proven', 'agreed', 'believed')) -- what backs its mint
) WITH (fillfactor = 90);
CREATE INDEX nodes_owner ON nodes (owner, node_id);
CREATE INDEX nodes_block ON nodes (block_number);
CREATE INDEX nodes_time ON nodes (minted_at);
CREATE INDEX nodes_mint ON nodes (mint_tx_hash);
-- A cohort's nodes in order: exports list credits by round, cohort and node without sorting.
CREATE INDEX nodes_cohort ON nodes (cohort, node_id);
-- Nodes without a payment. A healthy ledger has none; read before every round.
CREATE INDEX nodes_unpaid ON nodes (cohort) WHERE payment_id IS NULL;

-- Payments and nodes reference each other, so one of the two references has to come after both tables.
ALTER TABLE payments ADD FOREIGN KEY (node_id) REFERENCES nodes DEFERRABLE INITIALLY DEFERRED;

-- Nodes without a payment that the operator wants to keep. Stored by `ref`, because a reorganisation may give the node's number to another node.
CREATE TABLE grants (
  ref hash PRIMARY KEY,
  reason text NOT NULL,
  granted_by text NOT NULL,
  granted_at timestamptz NOT NULL DEFAULT now()
);

-- A node that was expelled from its cohort, with the number of that cohort and the node's credits until then, which it keeps.
CREATE TABLE expulsions (
  node_id bigint PRIMARY KEY REFERENCES nodes ON DELETE CASCADE,
  cohort int NOT NULL REFERENCES cohorts,
  credited_wei wei NOT NULL,
  turn_count int NOT NULL, -- how many credits the cohort had by then: the node does not get later ones
  expelled_at timestamptz NOT NULL,
  tx_hash hash NOT NULL,
  block_number bigint NOT NULL,
  block_hash hash NOT NULL
);
CREATE INDEX expulsions_block ON expulsions (block_number);
CREATE INDEX expulsions_cohort ON expulsions (cohort);

-- An ERC-721 transfer, including the mint: it shows who owned a node at which time.
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
-- Looks up which nodes a wallet ever held.
CREATE INDEX node_transfers_to ON node_transfers (to_address, node_id);

-- What the contract's owner did: keys, budgets, bounds, caps of tiers, windows of turns that are not owed, pause, ownership, sweeps. Also ether that
-- others sent to the contract.
CREATE TABLE owner_acts (
  block_number bigint NOT NULL,
  log_index int NOT NULL,
  name text NOT NULL, -- the event's name
  detail jsonb NOT NULL, -- the event's arguments
  at timestamptz NOT NULL,
  tx_hash hash NOT NULL,
  block_hash hash NOT NULL,
  PRIMARY KEY (block_number, log_index)
);
-- Anyone can add rows of the one name that is left out, by sending ether to the contract.
CREATE INDEX owner_acts_name ON owner_acts (name, block_number) WHERE name <> 'EtherReceived';

------------------------------------------------------------------------------------------------------ credits, rounds

-- A round, according to the contract's events (API: distribution). A round that only skipped turns credited no node, so the API does not show it.
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
CREATE INDEX rounds_transaction ON rounds (tx_hash);

-- A cohort's credit in a round, with the terms and the seed from which anyone can recompute its amount. The terms are null if this ledger has none
-- for the turn, because another ledger credited it or the terms were entered later. They are also null for a credit of several turns, whose terms are
-- in single_turns.
CREATE TABLE turns (
  round bigint NOT NULL REFERENCES rounds ON DELETE CASCADE,
  cohort int NOT NULL REFERENCES cohorts,
  turn_no int NOT NULL CHECK (turn_no > 0), -- counts within the cohort
  due bigint NOT NULL, -- the due time of the first turn, unix seconds
  turns int NOT NULL CHECK (turns > 0),
  amount_wei wei NOT NULL, -- the credit of each node for all of the turns
  node_count int NOT NULL,
  tier_id text,
  seed_block bigint,
  seed hash,
  min_wei wei,
  max_wei wei,
  payout_bps int,
  proof text CHECK (proof IN ('proven', 'agreed', 'believed')), -- what backs its seeds; null if a seed is unknown
  PRIMARY KEY (round, cohort),
  UNIQUE (cohort, due) -- each turn is paid once
);
CREATE UNIQUE INDEX turns_cohort ON turns (cohort, turn_no DESC);

-- One of the turns of a credit for several turns.
CREATE TABLE single_turns (
  round bigint NOT NULL,
  cohort int NOT NULL,
  due bigint NOT NULL, -- unix seconds
  amount_wei wei, -- the credit of each node by the terms; null if a term is unknown
  seed_block bigint,
  seed hash,
  min_wei wei,
  max_wei wei,
  payout_bps int,
  proof text CHECK (proof IN ('proven', 'agreed', 'believed')), -- as in `turns`
  PRIMARY KEY (round, cohort, due),
  FOREIGN KEY (round, cohort) REFERENCES turns ON DELETE CASCADE
);

-- Turns of a cohort that a round skipped, because they were not owed.
CREATE TABLE skips (
  round bigint NOT NULL REFERENCES rounds ON DELETE CASCADE,
  cohort int NOT NULL REFERENCES cohorts,
  due bigint NOT NULL, -- the due time of the first turn, unix seconds
  turns bigint NOT NULL CHECK (turns > 0),
  PRIMARY KEY (round, cohort)
);

-------------------------------------------------------------------------------------------------------- withdrawals

-- A withdrawal, or a call to withdraw that failed.
CREATE TABLE withdrawals (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  node_id bigint NOT NULL REFERENCES nodes ON DELETE CASCADE,
  amount_wei wei NOT NULL,
  withdrawn_total_wei wei, -- the node's total after it; null if it failed
  to_address address NOT NULL,
  tx_hash hash NOT NULL,
  log_index int, -- null if it failed
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

-------------------------------------------------------------------------------------------------- what reads need

-- Wallets that hold nodes, and how many. The triggers on nodes below maintain this table.
CREATE TABLE owners (
  owner address PRIMARY KEY,
  nodes int NOT NULL CHECK (nodes > 0)
);

-- The figures of /api/stats, in one row. The triggers below maintain them, so that no code path can forget to, and no read has to sum.
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

-- `changes`: by how many nodes each owner's count changes.
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

-- The ether price that all callers on all instances share. `attempted_at` limits the requests to the upstream to one a minute.
CREATE TABLE price (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  usd double precision,
  attempted_at timestamptz NOT NULL
);

-- The price of ether in an hour, if a caller asked and the upstream knew it. An hour without a quote has no row.
CREATE TABLE price_history (
  hour timestamptz PRIMARY KEY CHECK (hour = date_trunc('hour', hour, 'UTC')),
  usd double precision NOT NULL CHECK (usd > 0),
  quoted_at timestamptz NOT NULL
);

-------------------------------------------------------------------------------------------- the operator, acts and keys

-- What holds of this ledger as a whole.
CREATE TABLE ledger_state (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  -- Which ledger it is. Set at the first start, and never changed.
  chain_id bigint,
  genesis_hash text, -- of the embedded chain a word
  factory address,
  start_block bigint,
  started_at timestamptz,
  CHECK (num_nulls(chain_id, genesis_hash, factory, start_block, started_at) IN (0, 5)),
  -- The operator's switches. Above this amount an action needs a second person; null if none does.
  paused boolean NOT NULL DEFAULT false,
  second_person_wei wei,
  -- Whether mints and rounds carry the fork guard; null before the first one could.
  guard text CHECK (guard IN ('used', 'dropped')),
  -- How far the ledger may be trusted: the highest block that was final when followed, the highest that two providers called so, and the lowest header
  -- from which followed blocks descend.
  finalized_block bigint,
  finalized_hash hash,
  finalized_named bigint,
  linked_header jsonb,
  -- How far blocks must be read whole, were surveyed instead of read, are read again, or came before a restore. Null if none.
  read_whole_to bigint,
  surveyed_to bigint,
  mending_to bigint,
  recheck_up_to bigint,
  rebuilding boolean NOT NULL DEFAULT false,
  -- A block that a stranger claims to hold a payment, and when the last one did.
  claimed_block bigint,
  claimed_at timestamptz,
  -- The earliest turn that waits for its seed, unix seconds, and why.
  seed_wait_due bigint,
  seed_wait_says text,
  CHECK ((seed_wait_due IS NULL) = (seed_wait_says IS NULL)),
  -- What the last comparison with the contract found, and where the next one goes on.
  drift jsonb,
  drift_at timestamptz,
  drift_by text,
  reconcile_next bigint NOT NULL DEFAULT 1,
  reconcile_nodes bigint NOT NULL DEFAULT 0,
  reconcile_cohorts bigint NOT NULL DEFAULT 0,
  cohorts_agreed jsonb,
  refused_cohorts jsonb,
  -- The minter's budget as last read (KnownBudget in domain/budget.ts).
  budget jsonb
);
INSERT INTO ledger_state DEFAULT VALUES;

-- What comes and goes: a halt, a signer that does not sign, low funds. The first word is the kind, the second its subject. `trouble …` is what people
-- were told (db/core/troubles.ts).
CREATE TABLE troubles (
  name text PRIMARY KEY,
  value jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- The last run of each pass.
CREATE TABLE passes (
  name text PRIMARY KEY,
  started_at timestamptz NOT NULL,
  finished_at timestamptz,
  succeeded_at timestamptz, -- for alerts, because `finished_at` is also set by a run that failed
  outcome jsonb,
  error text
) WITH (fillfactor = 50);

-- What a person decided or a pass found, for the operator to read. Rows are never changed.
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  subject text,
  detail jsonb NOT NULL DEFAULT '{}',
  request_id text -- the id of the act's request; null for a pass and the command line
);
CREATE INDEX audit_subject ON audit (subject, id DESC) WHERE subject IS NOT NULL;
-- Traces of a stolen key, signers that rest, and refunds that contradict the chain. A healthy ledger has none; every scrape counts them.
CREATE INDEX audit_thefts ON audit (at) WHERE action IN ('foreignTransaction', 'restored', 'refTaken', 'mintedElsewhere', 'proofFailed',
  'guardRefused', 'paidNodeExpelled', 'senderRests', 'tierUnfit');
CREATE INDEX audit_refunds ON audit (at) WHERE action IN ('mintedThoughRefunding', 'mintedThoughRefunded', 'refundTooEarly',
  'refundOfMinted', 'refundOfOrphaned', 'refundGone');
-- Whether a file already refunds a payment.
CREATE INDEX audit_refund_files ON audit ((detail -> 'after' ->> 'ref')) WHERE action = 'refundFileMade';

-- An answer, stored under the key that the caller gave: the same request gets the same answer again. Rows are removed after two days.
CREATE TABLE idempotency_keys (
  actor text NOT NULL,
  key text NOT NULL CHECK (length(key) BETWEEN 1 AND 128),
  digest text NOT NULL, -- the digest of method, path and body
  started_at timestamptz NOT NULL DEFAULT now(),
  answer text, -- null while the act is running; after a crash another request takes the key over after a while
  PRIMARY KEY (actor, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (started_at);

-- An act that waits for a second person. `input` is the act's input, which is checked again on confirmation.
CREATE TABLE proposals (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  act text NOT NULL,
  input jsonb NOT NULL,
  proposed_by text NOT NULL,
  made_with bytea CHECK (length(made_with) = 32), -- the digest of the key, or of the passkey's credential id; null on the command line
  proposed_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL DEFAULT now() + interval '7 days',
  outcome text CHECK (outcome IN ('confirmed', 'refused', 'failed')),
  settled_by text,
  settled_at timestamptz,
  refusal text, -- why the act was no longer possible on confirmation
  CHECK ((outcome IS NULL) = (settled_by IS NULL) AND (outcome IS NULL) = (settled_at IS NULL)),
  CHECK ((outcome = 'failed') IS TRUE = (refusal IS NOT NULL))
);

-- A sign-in nonce that was used, until it expires.
CREATE TABLE used_nonces (
  nonce_hash text PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX used_nonces_expiry ON used_nonces (expires_at);

-- A person's passkey, for signing in at the console: the public key, never a secret.
CREATE TABLE passkeys (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  label text NOT NULL CHECK (label ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'decide', 'prices', 'terms', 'operate']),
  credential_id bytea NOT NULL UNIQUE,
  public_key bytea NOT NULL, -- as the authenticator returned it, in COSE
  counter bigint NOT NULL CHECK (counter >= 0), -- the number of signatures; always 0 if the authenticator does not count
  transports text[] NOT NULL,
  invited_by text NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz, -- when it was last used to sign in
  revoked_at timestamptz,
  revoked_by text,
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);

-- An admin key of the ledger; ADMIN_KEY has others. Stores a digest, never the key. A key with a passkey is a session.
CREATE TABLE admin_keys (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  label text NOT NULL CHECK (label ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'),
  digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'decide', 'prices', 'terms', 'operate']),
  passkey_id bigint REFERENCES passkeys,
  made_by text NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz, -- to the minute; null until it is used
  revoked_at timestamptz,
  revoked_by text,
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
CREATE INDEX admin_keys_passkey ON admin_keys (passkey_id, id) WHERE passkey_id IS NOT NULL;

-- An invitation, with which one person can make one passkey. Stores a digest of its code, never the code.
CREATE TABLE passkey_invitations (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  label text NOT NULL CHECK (label ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'decide', 'prices', 'terms', 'operate']),
  digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
  made_by text NOT NULL,
  -- The inviter's key or passkey; when that ends, so does the invitation. Both are null for keys of the settings and for the command line.
  by_key bigint REFERENCES admin_keys,
  by_passkey bigint REFERENCES passkeys,
  made_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL DEFAULT now() + interval '24 hours',
  passkey_expires_at timestamptz NOT NULL, -- when the passkey made with it will expire
  passkey_id bigint UNIQUE REFERENCES passkeys,
  revoked_at timestamptz,
  revoked_by text,
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL)),
  CHECK (passkey_id IS NULL OR revoked_at IS NULL)
);

----------------------------------------------------------------------------------------------------------- webhooks

-- An event is written in the transaction of the fact that it reports, so no event reports what did not happen. The triggers below write the events
-- about payments, rounds and withdrawals, so that no code path can forget one. Code that adds a row to the audit log also writes its event
-- (src/domain/webhooks/kinds.ts has the table). A worker delivers events. While no endpoint wants an event, it is not written.

-- A receiver of events, for all instances. Its name is its host and a digest of its URL, because the URL may be a secret, like the signing secrets.
-- Reads for display show neither. A removed endpoint keeps its row for its deliveries.
CREATE TABLE webhook_endpoints (
  endpoint text PRIMARY KEY,
  url text NOT NULL,
  secrets text[] NOT NULL CHECK (cardinality(secrets) BETWEEN 1 AND 2), -- newest first; events are signed with each of them
  active boolean NOT NULL DEFAULT true, -- false once it was removed
  -- The kinds of events that it gets, or {all}. Null if none were chosen: then it gets all kinds, and a mail endpoint the kinds that its URL names.
  events text[] CHECK (cardinality(events) > 0),
  added_by text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
  failing_since timestamptz, -- the first failure after the last success
  disabled_at timestamptz, -- when we gave up on it: nothing is sent until an operator enables it again
  last_success_at timestamptz,
  last_error text
);

-- An event, byte for byte as it is signed and sent. Its id is a digest of the fact and its block, so if a fact is followed twice (after a
-- reorganisation, or in a restored ledger), it has one id.
CREATE TABLE webhook_events (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  type text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_events_age ON webhook_events (created_at);

-- An event for one endpoint.
CREATE TABLE webhook_deliveries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  seq bigint NOT NULL REFERENCES webhook_events ON DELETE CASCADE,
  endpoint text NOT NULL REFERENCES webhook_endpoints,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts int NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(), -- when the next attempt is due; moved ahead while an attempt is running
  settled_at timestamptz,
  UNIQUE (seq, endpoint)
) WITH (fillfactor = 70);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint, due_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (id) WHERE state = 'failed';

-- An attempt to deliver an event, and its result.
CREATE TABLE webhook_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  delivery_id bigint NOT NULL REFERENCES webhook_deliveries ON DELETE CASCADE,
  at timestamptz NOT NULL DEFAULT now(),
  status int, -- the status of the answer; null if none came
  error text, -- what went wrong; null for a success
  duration_ms int NOT NULL
);
CREATE INDEX webhook_attempts_delivery ON webhook_attempts (delivery_id, id);

-- Writes an event, and a delivery for each endpoint that wants the event. `fact` identifies the event among all others.
CREATE FUNCTION webhook_emit(event_type text, fact text, data jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  IF NOT EXISTS (SELECT FROM webhook_endpoints WHERE active AND (events IS NULL OR events && ARRAY['all', event_type])) THEN RETURN; END IF;
  INSERT INTO webhook_events (id, type, body)
    VALUES ('evt_' || left(encode(sha256(convert_to(event_type || ' ' || fact, 'UTF8')), 'hex'), 32), event_type,
      jsonb_build_object('type', event_type, 'timestamp', iso(now()), 'data', data)::text)
    ON CONFLICT (id) DO NOTHING RETURNING seq INTO written;
  IF written IS NULL THEN RETURN; END IF;
  INSERT INTO webhook_deliveries (seq, endpoint)
    SELECT written, endpoint FROM webhook_endpoints WHERE active AND (events IS NULL OR events && ARRAY['all', event_type]);
END $$;

-- Reports payments that are held or minted. A transaction may make several payments, so both events contain the payment's `ref`.
CREATE FUNCTION webhook_payment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  node record;
  common jsonb := jsonb_build_object('txHash', NEW.tx_hash, 'ref', NEW.ref, 'from', NEW.from_address, 'valueWei', NEW.value_wei::text,
    'tierId', NEW.tier_id);
BEGIN
  IF NEW.state = 'held' THEN
    PERFORM webhook_emit('payment.held', concat_ws(' ', NEW.ref, NEW.reason, NEW.block_hash), common || jsonb_build_object(
      'reason', NEW.reason, 'blockNumber', NEW.block_number, 'blockHash', NEW.block_hash, 'paidAt', iso(NEW.block_time)));
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

-- Runs once for all withdrawals of a statement, and not at all if no endpoint wants them.
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
CREATE TRIGGER webhook_withdrawals AFTER INSERT ON withdrawals
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION webhook_withdrawals();
