-- What a person decided, and what the passes wrote down for a person, as events: one for each such row of the audit log, in its transaction.
CREATE FUNCTION webhook_act() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  event_type text := CASE
    WHEN NEW.action = 'halted' THEN 'passes.halted'
    WHEN NEW.action IN ('resumed', 'haltWithdrawn') THEN 'passes.resumed'
    WHEN NEW.action = 'paused' THEN 'rounds.paused'
    WHEN NEW.action = 'unpaused' THEN 'rounds.resumed'
    WHEN NEW.action IN ('released', 'dismissed', 'dustDismissed', 'refunding', 'refunded', 'refundPrepared', 'refundCancelled', 'attributed')
      THEN 'payment.decided'
    WHEN NEW.action IN ('termsEntered', 'termsTakenBack') THEN 'terms.changed'
    WHEN NEW.action IN ('tierCreated', 'tierChanged') THEN 'tiers.changed'
    WHEN NEW.action IN ('walletChanged', 'walletTakenBack', 'walletClosed') THEN 'wallet.changed'
    WHEN NEW.action = 'signerDown' THEN 'signer.down'
    WHEN NEW.action = 'signerRestored' THEN 'signer.restored'
    WHEN NEW.action = 'foreignTransaction' THEN 'key.used'
    WHEN NEW.action = 'restored' THEN 'ledger.restored'
  END;
BEGIN
  -- Who, what and about what; the row itself has the rest, for those who may read it.
  PERFORM webhook_emit(event_type, concat_ws(' ', NEW.id, NEW.at, NEW.action), jsonb_build_object(
    'action', NEW.action, 'actor', NEW.actor, 'subject', NEW.subject, 'auditId', NEW.id::text));
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_act AFTER INSERT ON audit FOR EACH ROW
  WHEN (NEW.action IN ('halted', 'resumed', 'haltWithdrawn', 'paused', 'unpaused', 'released', 'dismissed', 'dustDismissed', 'refunding',
    'refunded', 'refundPrepared', 'refundCancelled', 'attributed', 'termsEntered', 'termsTakenBack', 'tierCreated', 'tierChanged',
    'walletChanged', 'walletTakenBack', 'walletClosed', 'signerDown', 'signerRestored', 'foreignTransaction', 'restored'))
  EXECUTE FUNCTION webhook_act();
