-- Who may buy by an internal call, as a Safe and other contract wallets pay: a term of the sale, from a block on. Without a row everything that
-- comes so is held.
CREATE TABLE contract_wallet_modes (
  from_block bigint PRIMARY KEY CHECK (from_block >= 0),
  mode text NOT NULL CHECK (mode IN ('hold', 'proven', 'all')),
  entered_at timestamptz NOT NULL DEFAULT now(),
  entered_by text NOT NULL
);

-- Contracts that the operator knows to be somebody's wallet: in the mode `proven` they buy.
CREATE TABLE allowed_wallets (
  address address PRIMARY KEY,
  label text NOT NULL,
  reason text NOT NULL,
  added_by text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now()
);

-- Contracts that have signed in here: somebody signs for them. `deployed`: there was code at the address then.
CREATE TABLE proven_wallets (
  address address PRIMARY KEY,
  deployed boolean NOT NULL,
  proven_at timestamptz NOT NULL DEFAULT now()
);

-- The code of an inner transfer's sender after that very block: read once, since providers forget old states. In another block it is read again.
CREATE TABLE payer_codes (
  payment_id bigint PRIMARY KEY REFERENCES payments ON DELETE CASCADE,
  block_hash hash NOT NULL,
  code jsonb NOT NULL CHECK (code ->> 'kind' IN ('none', 'delegation', 'contract'))
);

-- Code from before this rule knows no contract wallets: beside newer code it would sell to any payer. So the rules accept an inner transfer only
-- once the code of its sender is on record, and what earlier code accepts without is held. A person's decision goes before the rules.
CREATE FUNCTION payer_unread() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM payer_codes c WHERE c.payment_id = NEW.id AND c.block_hash = NEW.block_hash)
    AND NOT EXISTS (SELECT FROM standing_verdicts v WHERE v.payment_id = NEW.id AND v.decided_by <> 'pass') THEN
    NEW.state := 'held';
    NEW.reason := 'contractWallet';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payer_unread BEFORE UPDATE OF state ON payments
  FOR EACH ROW WHEN (OLD.state = 'seen' AND NEW.state = 'accepted' AND NEW.inner_index > 0) EXECUTE FUNCTION payer_unread();
