-- Admin keys that the ledger holds beside those of ADMIN_KEY: a digest, never the key.
CREATE TABLE admin_keys (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  label text NOT NULL CHECK (label ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'),
  digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'decide', 'prices', 'terms', 'operate']),
  made_by text NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  -- To the minute, and null until it is used.
  used_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);

-- Keys that were made or revoked, wrong ones that were tried, and acts that wait for a second person, as events.
CREATE FUNCTION webhook_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM webhook_emit(CASE NEW.action WHEN 'wrongAdminKeys' THEN 'keys.wrong' WHEN 'proposed' THEN 'act.proposed' ELSE 'keys.changed' END,
    concat_ws(' ', NEW.id, NEW.at, NEW.action), jsonb_build_object(
      'action', NEW.action, 'actor', NEW.actor, 'subject', NEW.subject, 'auditId', NEW.id::text));
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_key AFTER INSERT ON audit FOR EACH ROW
  WHEN (NEW.action IN ('wrongAdminKeys', 'keyMade', 'keyRevoked', 'keysRevoked', 'proposed')) EXECUTE FUNCTION webhook_key();

-- Acts that wait for a second person. `input` is what the act was asked with; it is judged again when it is confirmed.
CREATE TABLE proposals (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  act text NOT NULL,
  input jsonb NOT NULL,
  proposed_by text NOT NULL,
  proposed_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL DEFAULT now() + interval '7 days',
  outcome text CHECK (outcome IN ('confirmed', 'refused', 'failed')),
  settled_by text,
  settled_at timestamptz,
  -- Why the act could no longer be done when it was confirmed.
  refusal text,
  CHECK ((outcome IS NULL) = (settled_by IS NULL) AND (outcome IS NULL) = (settled_at IS NULL)),
  CHECK ((outcome = 'failed') IS TRUE = (refusal IS NOT NULL))
);
