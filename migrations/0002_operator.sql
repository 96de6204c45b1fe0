-- What the operator's acts need: where an act came from, answers that are given again, and which refund proves which payment.

-- The request an act came with; null for what a pass or the command line did.
ALTER TABLE audit ADD COLUMN request_id text;

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

-- Payments are listed newest first, by id: all, those of a state, of a reason, of both. A reason stays with what was dismissed, so
-- neither of the first two would do for the last.
CREATE INDEX payments_state ON payments (state, id DESC);
CREATE INDEX payments_state_reason ON payments (state, reason, id DESC) WHERE reason IS NOT NULL;
CREATE INDEX payments_reason ON payments (reason, id DESC) WHERE reason IS NOT NULL;
-- Bulk dismissal looks at small held payments only.
CREATE INDEX payments_held_value ON payments (value_wei) WHERE state = 'held';
