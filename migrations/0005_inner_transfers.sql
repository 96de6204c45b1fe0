-- Inner transfers, by which contract wallets pay, are payments of their own. One transaction may hold several, to several wallets.

ALTER TABLE payments ADD UNIQUE (tx_hash, wallet, inner_index);
ALTER TABLE payments DROP CONSTRAINT payments_tx_hash_inner_index_key;

-- `contractWallet`: a contract sent it, and nothing shows yet that the contract is somebody's wallet.
ALTER TABLE payments DROP CONSTRAINT payments_reason_check;
ALTER TABLE payments ADD CONSTRAINT payments_reason_check CHECK (reason IN ('wrongAmount', 'saleClosed', 'tierAllowance',
  'holding', 'walletLimit', 'senderDenied', 'unattributed', 'mintReverted', 'mintedElsewhere', 'oldWallet', 'recheck', 'refunding',
  'contractWallet', 'self', 'operator', 'zero', 'failed'));

-- A residue from which a part is taken shrinks: the books count the part, and the rest.
CREATE FUNCTION wallet_revalued() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wallet_books SET in_wei = in_wei + NEW.value_wei - OLD.value_wei WHERE wallet = NEW.wallet;
  RETURN NULL;
END $$;
CREATE TRIGGER wallet_revalued AFTER UPDATE OF value_wei ON payments
  FOR EACH ROW WHEN (OLD.value_wei <> NEW.value_wei AND NEW.succeeded AND OLD.state <> 'orphaned' AND NEW.state <> 'orphaned')
  EXECUTE FUNCTION wallet_revalued();

-- Several parts of one residue may be attributed. The part that takes the whole rest takes over the residue's row (`part_of` is null, `residue_ref`
-- its name as a residue); any other is a payment of its own from the beginning, and its `residue_ref` is its ref.
ALTER TABLE attributions ADD COLUMN part_of hash, ADD COLUMN wallet address, ADD COLUMN value_wei wei,
  ADD CHECK (part_of IS NULL OR (residue_ref = ref AND num_nulls(wallet, value_wei) = 0));
UPDATE attributions a SET wallet = p.wallet, value_wei = p.value_wei
  FROM payments p WHERE p.ref = a.ref OR p.ref = a.residue_ref;
CREATE INDEX attributions_part_of ON attributions (part_of) WHERE part_of IS NOT NULL;

-- Inner transfers may be dust, and may leave a wallet, several in one transaction.
ALTER TABLE dust ADD COLUMN inner_index int NOT NULL DEFAULT 0 CHECK (inner_index >= 0);
ALTER TABLE dust DROP CONSTRAINT dust_pkey;
ALTER TABLE dust ADD PRIMARY KEY (tx_hash, wallet_id, inner_index);
ALTER TABLE wallet_outflows ADD COLUMN inner_index int NOT NULL DEFAULT 0 CHECK (inner_index >= 0);
ALTER TABLE wallet_outflows ADD UNIQUE (tx_hash, wallet, inner_index);
ALTER TABLE wallet_outflows DROP CONSTRAINT wallet_outflows_tx_hash_key;

-- Blocks traced by all instances, for the budget of a day: how many were told apart, were not, and were left for want of budget.
CREATE TABLE trace_days (
  day date PRIMARY KEY,
  traced int NOT NULL DEFAULT 0,
  failed int NOT NULL DEFAULT 0,
  unbudgeted int NOT NULL DEFAULT 0
);

-- When a residue was last traced again, so that each has its turn. Rows of residues that are gone are removed by the balance check.
CREATE TABLE residue_traces (
  ref hash PRIMARY KEY,
  tries int NOT NULL DEFAULT 0,
  tried_at timestamptz NOT NULL DEFAULT now()
);
