-- Passkeys of people, who sign in with one at the console: the public key, never a secret. A session is an admin key that refers to its passkey.
CREATE TABLE passkeys (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  label text NOT NULL CHECK (label ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'decide', 'prices', 'terms', 'operate']),
  credential_id bytea NOT NULL UNIQUE,
  -- As the authenticator gave it, in COSE.
  public_key bytea NOT NULL,
  -- Of signatures; 0 for ever where the authenticator counts none.
  counter bigint NOT NULL CHECK (counter >= 0),
  transports text[] NOT NULL,
  invited_by text NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  -- When somebody last signed in with it.
  used_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);

ALTER TABLE admin_keys ADD COLUMN passkey_id bigint REFERENCES passkeys;
CREATE INDEX admin_keys_passkey ON admin_keys (passkey_id, id) WHERE passkey_id IS NOT NULL;

-- An invitation lets one person make one passkey: a digest of its code, never the code.
CREATE TABLE passkey_invitations (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  label text NOT NULL CHECK (label ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'decide', 'prices', 'terms', 'operate']),
  digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
  made_by text NOT NULL,
  -- The inviter's key, or their passkey: an invitation ends with it. Neither for keys of the settings and the command line.
  by_key bigint REFERENCES admin_keys,
  by_passkey bigint REFERENCES passkeys,
  made_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL DEFAULT now() + interval '24 hours',
  -- The end of the passkey that it makes.
  passkey_expires_at timestamptz NOT NULL,
  passkey_id bigint UNIQUE REFERENCES passkeys,
  revoked_at timestamptz,
  revoked_by text,
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL)),
  CHECK (passkey_id IS NULL OR revoked_at IS NULL)
);

-- Passkeys are told like keys; one whose counter goes back, and may be a copy, like wrong keys.
CREATE OR REPLACE FUNCTION webhook_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM webhook_emit(CASE WHEN NEW.action IN ('wrongAdminKeys', 'passkeyCopied') THEN 'keys.wrong' WHEN NEW.action = 'proposed' THEN 'act.proposed'
      ELSE 'keys.changed' END,
    concat_ws(' ', NEW.id, NEW.at, NEW.action), jsonb_build_object(
      'action', NEW.action, 'actor', NEW.actor, 'subject', NEW.subject, 'auditId', NEW.id::text));
  RETURN NULL;
END $$;
DROP TRIGGER webhook_key ON audit;
CREATE TRIGGER webhook_key AFTER INSERT ON audit FOR EACH ROW
  WHEN (NEW.action IN ('wrongAdminKeys', 'keyMade', 'keyRevoked', 'keysRevoked', 'proposed',
    'passkeyInvited', 'invitationRevoked', 'passkeyMade', 'passkeyRevoked', 'passkeyCopied'))
  EXECUTE FUNCTION webhook_key();
