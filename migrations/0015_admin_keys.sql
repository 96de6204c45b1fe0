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

-- Keys that were made or revoked, and wrong ones that were tried, as events.
CREATE FUNCTION webhook_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM webhook_emit(CASE WHEN NEW.action = 'wrongAdminKeys' THEN 'keys.wrong' ELSE 'keys.changed' END,
    concat_ws(' ', NEW.id, NEW.at, NEW.action), jsonb_build_object(
      'action', NEW.action, 'actor', NEW.actor, 'subject', NEW.subject, 'auditId', NEW.id::text));
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_key AFTER INSERT ON audit FOR EACH ROW
  WHEN (NEW.action IN ('wrongAdminKeys', 'keyMade', 'keyRevoked', 'keysRevoked')) EXECUTE FUNCTION webhook_key();
