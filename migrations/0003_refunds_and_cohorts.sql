-- Refunds in two steps: a payment is first held `refunding`, until no signed mint can be carried out for it any more.

ALTER TABLE payments DROP CONSTRAINT payments_reason_check;
ALTER TABLE payments ADD CONSTRAINT payments_reason_check CHECK (reason IN ('wrongAmount', 'saleClosed', 'tierAllowance',
  'holding', 'walletLimit', 'senderDenied', 'unattributed', 'mintReverted', 'mintedElsewhere', 'oldWallet', 'recheck', 'refunding',
  'self', 'operator', 'zero', 'failed'));

-- A refund that is prepared may be given up: its verdict is withdrawn, and the one before stands again. Nothing else of a verdict is ever changed.
ALTER TABLE payment_verdicts ADD COLUMN withdrawn_at timestamptz, ADD COLUMN withdrawn_by text,
  ADD CHECK ((withdrawn_at IS NULL) = (withdrawn_by IS NULL));
CREATE VIEW standing_verdicts AS SELECT * FROM payment_verdicts WHERE withdrawn_at IS NULL;

-- Which signed mints may yet be carried out: those of the last hour or so.
CREATE INDEX outbox_mints_valid ON outbox (valid_until) WHERE kind = 'mint';

-- Refunds that contradict the chain: empty in a healthy ledger, counted by every scrape.
CREATE INDEX audit_refunds ON audit (at) WHERE action IN ('mintedThoughRefunding', 'mintedThoughRefunded', 'refundTooEarly',
  'refundOfMinted', 'refundOfOrphaned', 'refundGone');

CREATE FUNCTION webhook_refund_alarm() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM webhook_emit('refund.alarm', NEW.id || ' ' || NEW.at,
    NEW.detail || jsonb_build_object('alarm', NEW.action, 'ref', NEW.subject));
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_refund_alarm AFTER INSERT ON audit
  FOR EACH ROW WHEN (NEW.action IN ('mintedThoughRefunding', 'mintedThoughRefunded', 'refundTooEarly', 'refundOfMinted',
    'refundOfOrphaned', 'refundGone')) EXECUTE FUNCTION webhook_refund_alarm();

-- What a cohort was opened with, and since when its interval is the contract's owner's: one that neither the ledger's terms nor the owner account for
-- takes no mints and is not credited. Null where it was opened before this was kept.

ALTER TABLE cohorts ADD COLUMN opened_interval_sec bigint, ADD COLUMN first_due bigint, -- unix seconds, as the next
  ADD COLUMN opened_at bigint, ADD COLUMN owner_set_block bigint;
