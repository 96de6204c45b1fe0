-- For how long a version that was replaced still buys its tier, and for how long a holding that cannot be read is asked again, are terms of the
-- tier, as its price is: every instance judges by the same. A wallet's row says for how long the one before it still sells.

ALTER TABLE tiers ADD COLUMN grace_sec integer NOT NULL DEFAULT 900 CHECK (grace_sec >= 0),
  ADD COLUMN holding_retry_sec integer NOT NULL DEFAULT 3600 CHECK (holding_retry_sec >= 0);
ALTER TABLE payment_wallets ADD COLUMN grace_sec integer NOT NULL DEFAULT 900 CHECK (grace_sec >= 0);
