-- The ledger's schema as the migrations leave it. Written by "npm run generate"; never edit it, write a migration.

CREATE DOMAIN address AS text CHECK (((length(VALUE) = 42) AND (VALUE ~ '^0x[0-9a-f]+$'::text)));
CREATE DOMAIN hash AS text CHECK (((length(VALUE) = 66) AND (VALUE ~ '^0x[0-9a-f]+$'::text)));
CREATE DOMAIN wei AS numeric(78,0) CHECK (((VALUE >= (0)::numeric) AND (VALUE <= '115792089237316195423570985008687907853269984665640564039457584007913129639935'::numeric)));

CREATE OR REPLACE FUNCTION public.answers_repriced()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE turns t SET answer_format = NULL FROM rounds r
  WHERE r.round = t.round AND date_trunc('hour', r.created_at, 'UTC') IN (SELECT hour FROM changed);
  UPDATE withdrawals SET answer_format = NULL WHERE date_trunc('hour', created_at, 'UTC') IN (SELECT hour FROM changed);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.count_owners(changes jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.dust_credited()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE wallet_books b SET in_wei = in_wei + added.wei, dust_transfers = dust_transfers + added.transfers
  FROM (SELECT wallet, sum(value_wei) AS wei, count(*) AS transfers FROM added JOIN payment_wallets w ON w.id = wallet_id GROUP BY wallet) added
  WHERE b.wallet = added.wallet;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.dust_uncredited()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE wallet_books b SET in_wei = in_wei - removed.wei, dust_transfers = dust_transfers - removed.transfers
  FROM (SELECT wallet, sum(value_wei) AS wei, count(*) AS transfers FROM removed JOIN payment_wallets w ON w.id = wallet_id GROUP BY wallet) removed
  WHERE b.wallet = removed.wallet;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.figures_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM changed) THEN
    UPDATE tier_figures_basis SET changes = changes + 1;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.iso(at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN to_char((at AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'::text);

CREATE OR REPLACE FUNCTION public.junk_taken_back()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  height bigint := CASE WHEN TG_OP = 'UPDATE' THEN NEW.block_number ELSE -1 END;
BEGIN
  DELETE FROM dust WHERE block_number > height;
  DELETE FROM zero_transfers WHERE block_number > height;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.nodes_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE totals SET nodes = nodes - (SELECT count(*) FROM removed),
    withdrawn_wei = withdrawn_wei - (SELECT coalesce(sum(withdrawn_wei), 0) FROM removed);
  PERFORM count_owners((SELECT coalesce(jsonb_object_agg(owner, -n), '{}') FROM (SELECT owner, count(*) n FROM removed GROUP BY owner) c));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.nodes_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE totals SET nodes = nodes + (SELECT count(*) FROM added),
    withdrawn_wei = withdrawn_wei + (SELECT coalesce(sum(withdrawn_wei), 0) FROM added);
  PERFORM count_owners((SELECT coalesce(jsonb_object_agg(owner, n), '{}') FROM (SELECT owner, count(*) n FROM added GROUP BY owner) c));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.nodes_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE totals SET withdrawn_wei = withdrawn_wei
    + (SELECT coalesce(sum(withdrawn_wei), 0) FROM added) - (SELECT coalesce(sum(withdrawn_wei), 0) FROM removed);
  PERFORM count_owners((SELECT coalesce(jsonb_object_agg(owner, n), '{}') FROM (
    SELECT owner, sum(n) n FROM (
      SELECT owner, 1 n FROM added UNION ALL SELECT owner, -1 FROM removed
    ) c GROUP BY owner HAVING sum(n) <> 0) d));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.outbox_block_time()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NEW.block_time := (SELECT to_timestamp(time) FROM blocks WHERE number = NEW.block_number);
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.payer_unread()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM payer_codes c WHERE c.payment_id = NEW.id AND c.block_hash = NEW.block_hash)
    AND NOT EXISTS (SELECT FROM standing_verdicts v WHERE v.payment_id = NEW.id AND v.decided_by <> 'pass') THEN
    NEW.state := 'held';
    NEW.reason := 'contractWallet';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.payments_sold()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE totals SET sales_wei = sales_wei
    + CASE WHEN NEW.state = 'minted' THEN NEW.value_wei ELSE 0 END
    - CASE WHEN OLD.state = 'minted' THEN OLD.value_wei ELSE 0 END;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.rounds_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE totals SET rounds = rounds - (SELECT count(*) FROM removed WHERE node_count > 0),
    distributed_wei = distributed_wei - (SELECT coalesce(sum(total_wei), 0) FROM removed);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.rounds_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE totals SET rounds = rounds + (SELECT count(*) FROM added WHERE node_count > 0),
    distributed_wei = distributed_wei + (SELECT coalesce(sum(total_wei), 0) FROM added);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.wallet_credited()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE wallet_books b SET in_wei = in_wei + added.wei
  FROM (SELECT wallet, sum(value_wei) AS wei FROM added WHERE succeeded AND state <> 'orphaned' GROUP BY wallet) added
  WHERE b.wallet = added.wallet AND added.wei > 0;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.wallet_debited()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE wallet_books b SET out_wei = out_wei + added.wei
  FROM (SELECT wallet, sum(value_wei + fee_wei) AS wei FROM added GROUP BY wallet) added WHERE b.wallet = added.wallet;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.wallet_entered()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO wallet_books (wallet) VALUES (NEW.wallet) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.wallet_recredited()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  -- A hash stands for one recipient; where they differ, a provider had misread it.
  UPDATE wallet_books SET in_wei = in_wei
    + CASE WHEN wallet = NEW.wallet AND NEW.succeeded AND NEW.state <> 'orphaned' THEN NEW.value_wei ELSE 0 END
    - CASE WHEN wallet = OLD.wallet AND OLD.succeeded AND OLD.state <> 'orphaned' THEN OLD.value_wei ELSE 0 END
  WHERE wallet IN (OLD.wallet, NEW.wallet);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.wallet_revalued()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE wallet_books SET in_wei = in_wei + NEW.value_wei - OLD.value_wei WHERE wallet = NEW.wallet;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.wallet_undebited()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE wallet_books b SET out_wei = out_wei - removed.wei
  FROM (SELECT wallet, sum(value_wei + fee_wei) AS wei FROM removed GROUP BY wallet) removed WHERE b.wallet = removed.wallet;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.webhook_act()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.webhook_emit(event_type text, fact text, data jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.webhook_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM webhook_emit(CASE WHEN NEW.action IN ('wrongAdminKeys', 'passkeyCopied') THEN 'keys.wrong' WHEN NEW.action = 'proposed' THEN 'act.proposed'
      ELSE 'keys.changed' END,
    concat_ws(' ', NEW.id, NEW.at, NEW.action), jsonb_build_object(
      'action', NEW.action, 'actor', NEW.actor, 'subject', NEW.subject, 'auditId', NEW.id::text));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.webhook_payment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.webhook_refund_alarm()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM webhook_emit('refund.alarm', NEW.id || ' ' || NEW.at,
    NEW.detail || jsonb_build_object('alarm', NEW.action, 'ref', NEW.subject));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.webhook_reorganisation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM webhook_emit('chain.reorganised', NEW.id || ' ' || NEW.at, NEW.detail);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.webhook_round()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM webhook_emit('round.credited', concat_ws(' ', NEW.round, NEW.block_hash), jsonb_build_object(
    'distributionId', NEW.round, 'mode', NEW.mode, 'totalWei', NEW.total_wei::text, 'nodeCount', NEW.node_count,
    'txHash', NEW.tx_hash, 'blockNumber', NEW.block_number, 'blockHash', NEW.block_hash, 'createdAt', iso(NEW.created_at)));
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.webhook_setting()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  former jsonb;
BEGIN
  IF NEW.name = 'drift' AND jsonb_array_length(NEW.value) > 0 THEN
    PERFORM webhook_emit('drift.found', concat_ws(' ', NEW.value, NEW.updated_at), jsonb_build_object(
      'count', jsonb_array_length(NEW.value), 'drifts', jsonb_path_query_array(NEW.value, '$[0 to 19]')));
  ELSIF NEW.name LIKE 'funds %' AND NEW.value ->> 'low' = 'true' THEN
    -- Each time they become low, not each time the figures change.
    IF TG_OP = 'UPDATE' AND OLD.value ->> 'low' = 'true' THEN RETURN NULL; END IF;
    PERFORM webhook_emit('funds.low', concat_ws(' ', NEW.name, NEW.updated_at), NEW.value - 'low');
  ELSIF NEW.name = 'budget' THEN
    former := CASE WHEN TG_OP = 'UPDATE' THEN OLD.value ELSE '{}' END;
    IF NEW.value -> 'low' <> '[]' AND (former -> 'low') IS DISTINCT FROM (NEW.value -> 'low') THEN
      PERFORM webhook_emit('budget.low', concat_ws(' ', 'low', NEW.updated_at), NEW.value - 'spent');
    END IF;
    IF NEW.value ->> 'spent' IS NOT NULL AND (former ->> 'spent') IS DISTINCT FROM (NEW.value ->> 'spent') THEN
      PERFORM webhook_emit('budget.spent', concat_ws(' ', 'spent', NEW.updated_at), NEW.value - 'low');
    END IF;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.webhook_withdrawals()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook_endpoints WHERE active AND (events IS NULL OR events && ARRAY['all', 'withdrawal.seen'])) THEN RETURN NULL; END IF;
  PERFORM webhook_emit('withdrawal.seen', concat_ws(' ', w.tx_hash, w.log_index, w.node_id, w.block_hash),
    jsonb_build_object('nodeId', w.node_id::text, 'status', w.status, 'amountWei', w.amount_wei::text,
      'toAddress', w.to_address, 'txHash', w.tx_hash, 'blockNumber', w.block_number, 'blockHash', w.block_hash,
      'createdAt', iso(w.created_at)))
    FROM (SELECT * FROM added ORDER BY id) w;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.zero_transfers_counted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE wallet_books b SET zero_transfers = zero_transfers + added.transfers
  FROM (SELECT wallet, sum(transfers) AS transfers FROM added JOIN payment_wallets w ON w.id = wallet_id GROUP BY wallet) added
  WHERE b.wallet = added.wallet;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.zero_transfers_uncounted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE wallet_books b SET zero_transfers = zero_transfers - removed.transfers
  FROM (SELECT wallet, sum(transfers) AS transfers FROM removed JOIN payment_wallets w ON w.id = wallet_id GROUP BY wallet) removed
  WHERE b.wallet = removed.wallet;
  RETURN NULL;
END $function$;

CREATE TABLE admin_keys (
  digest bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  label text NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  made_by text NOT NULL,
  passkey_id bigint,
  revoked_at timestamp with time zone,
  revoked_by text,
  scopes text[] NOT NULL,
  used_at timestamp with time zone,
  CONSTRAINT admin_keys_check CHECK (((revoked_at IS NULL) = (revoked_by IS NULL))),
  CONSTRAINT admin_keys_digest_check CHECK ((length(digest) = 32)),
  CONSTRAINT admin_keys_digest_key UNIQUE (digest),
  CONSTRAINT admin_keys_label_check CHECK ((label ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'::text)),
  CONSTRAINT admin_keys_passkey_id_fkey FOREIGN KEY (passkey_id) REFERENCES passkeys(id),
  CONSTRAINT admin_keys_pkey PRIMARY KEY (id),
  CONSTRAINT admin_keys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['read'::text, 'decide'::text, 'prices'::text, 'terms'::text, 'operate'::text])))
);
CREATE INDEX admin_keys_passkey ON public.admin_keys USING btree (passkey_id, id) WHERE (passkey_id IS NOT NULL);

CREATE TABLE allowed_wallets (
  added_at timestamp with time zone NOT NULL DEFAULT now(),
  added_by text NOT NULL,
  address address NOT NULL,
  label text NOT NULL,
  reason text NOT NULL,
  CONSTRAINT allowed_wallets_pkey PRIMARY KEY (address)
);

CREATE TABLE attributions (
  attributed_at timestamp with time zone NOT NULL DEFAULT now(),
  attributed_by text NOT NULL,
  from_address address NOT NULL,
  inner_index integer NOT NULL,
  part_of hash,
  proof text NOT NULL DEFAULT 'trace'::text,
  ref hash NOT NULL,
  residue_ref hash NOT NULL,
  tx_hash hash NOT NULL,
  tx_index integer NOT NULL,
  value_wei wei,
  wallet address,
  CONSTRAINT attributions_check CHECK (((part_of IS NULL) OR (((residue_ref)::text = (ref)::text) AND (num_nulls(wallet, value_wei) = 0)))),
  CONSTRAINT attributions_inner_index_check CHECK ((inner_index > 0)),
  CONSTRAINT attributions_pkey PRIMARY KEY (residue_ref),
  CONSTRAINT attributions_proof_check CHECK ((proof = ANY (ARRAY['trace'::text, 'word'::text]))),
  CONSTRAINT attributions_ref_key UNIQUE (ref)
);
CREATE INDEX attributions_part_of ON public.attributions USING btree (part_of) WHERE (part_of IS NOT NULL);

CREATE TABLE audit (
  action text NOT NULL,
  actor text NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT now(),
  detail jsonb NOT NULL DEFAULT '{}'::jsonb,
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  request_id text,
  subject text,
  CONSTRAINT audit_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_refunds ON public.audit USING btree (at) WHERE (action = ANY (ARRAY['mintedThoughRefunding'::text, 'mintedThoughRefunded'::text, 'refundTooEarly'::text, 'refundOfMinted'::text, 'refundOfOrphaned'::text, 'refundGone'::text]));
CREATE INDEX audit_subject ON public.audit USING btree (subject, id DESC) WHERE (subject IS NOT NULL);
CREATE INDEX audit_thefts ON public.audit USING btree (at) WHERE (action = ANY (ARRAY['foreignTransaction'::text, 'restored'::text, 'refTaken'::text, 'mintedElsewhere'::text]));

CREATE TABLE block_fees (
  base_fee_wei wei,
  number bigint NOT NULL,
  tip_wei wei,
  CONSTRAINT block_fees_pkey PRIMARY KEY (number)
);

CREATE TABLE blocks (
  "time" bigint NOT NULL,
  hash hash NOT NULL,
  number bigint NOT NULL,
  parent_hash hash NOT NULL,
  prevrandao hash NOT NULL,
  CONSTRAINT blocks_number_check CHECK ((number >= 0)),
  CONSTRAINT blocks_pkey PRIMARY KEY (number)
);

CREATE TABLE cohort_states (
  block_number bigint NOT NULL,
  cohort integer NOT NULL,
  interval_sec bigint NOT NULL,
  last_turn_at timestamp with time zone,
  next_due bigint NOT NULL,
  per_node_wei wei NOT NULL,
  size integer NOT NULL,
  turn_count integer NOT NULL,
  CONSTRAINT cohort_states_cohort_fkey FOREIGN KEY (cohort) REFERENCES cohorts(cohort) ON DELETE CASCADE,
  CONSTRAINT cohort_states_pkey PRIMARY KEY (cohort, block_number)
);
CREATE INDEX cohort_states_block ON public.cohort_states USING btree (block_number);

CREATE TABLE cohorts (
  block_hash hash NOT NULL,
  block_number bigint NOT NULL,
  cohort integer NOT NULL,
  first_due bigint,
  interval_sec bigint NOT NULL,
  last_turn_at timestamp with time zone,
  next_due bigint NOT NULL,
  opened_at bigint,
  opened_interval_sec bigint,
  owner_set_block bigint,
  per_node_wei wei NOT NULL DEFAULT 0,
  size integer NOT NULL DEFAULT 0,
  tier_no integer NOT NULL,
  turn_count integer NOT NULL DEFAULT 0,
  CONSTRAINT cohorts_cohort_check CHECK (((cohort >= 1) AND (cohort <= 65535))),
  CONSTRAINT cohorts_interval_sec_check CHECK ((interval_sec > 0)),
  CONSTRAINT cohorts_pkey PRIMARY KEY (cohort),
  CONSTRAINT cohorts_size_check CHECK ((size >= 0))
) WITH (fillfactor=50);
CREATE INDEX cohorts_tier ON public.cohorts USING btree (tier_no);

CREATE TABLE contract_wallet_modes (
  entered_at timestamp with time zone NOT NULL DEFAULT now(),
  entered_by text NOT NULL,
  from_block bigint NOT NULL,
  mode text NOT NULL,
  CONSTRAINT contract_wallet_modes_from_block_check CHECK ((from_block >= 0)),
  CONSTRAINT contract_wallet_modes_mode_check CHECK ((mode = ANY (ARRAY['hold'::text, 'proven'::text, 'all'::text]))),
  CONSTRAINT contract_wallet_modes_pkey PRIMARY KEY (from_block)
);

CREATE TABLE cover_hours (
  block_number bigint NOT NULL,
  hour timestamp with time zone NOT NULL,
  surplus_wei numeric(78,0) NOT NULL,
  CONSTRAINT cover_hours_hour_check CHECK ((hour = date_trunc('hour'::text, hour, 'UTC'::text))),
  CONSTRAINT cover_hours_pkey PRIMARY KEY (hour)
);

CREATE TABLE credit_terms (
  entered_at timestamp with time zone NOT NULL DEFAULT now(),
  entered_by text NOT NULL,
  from_time bigint NOT NULL,
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  interval_sec bigint NOT NULL,
  max_wei wei NOT NULL,
  min_wei wei NOT NULL,
  payouts boolean NOT NULL,
  slot_sec bigint NOT NULL,
  CONSTRAINT credit_terms_check CHECK (((slot_sec > 0) AND ((interval_sec % slot_sec) = 0))),
  CONSTRAINT credit_terms_check1 CHECK (((min_wei)::numeric <= (max_wei)::numeric)),
  CONSTRAINT credit_terms_from_time_check CHECK ((from_time >= 0)),
  CONSTRAINT credit_terms_from_time_key UNIQUE (from_time),
  CONSTRAINT credit_terms_interval_sec_check CHECK ((interval_sec > 0)),
  CONSTRAINT credit_terms_pkey PRIMARY KEY (id)
);

CREATE TABLE cursors (
  block_hash hash NOT NULL,
  block_number bigint NOT NULL,
  block_time bigint NOT NULL,
  name text NOT NULL,
  CONSTRAINT cursors_pkey PRIMARY KEY (name)
);

CREATE TABLE dust (
  block_number bigint NOT NULL,
  from_address bytea NOT NULL,
  inner_index integer NOT NULL DEFAULT 0,
  tx_hash bytea NOT NULL,
  tx_index integer NOT NULL,
  value_wei wei NOT NULL,
  wallet_id integer NOT NULL,
  CONSTRAINT dust_from_address_check CHECK ((length(from_address) = 20)),
  CONSTRAINT dust_inner_index_check CHECK ((inner_index >= 0)),
  CONSTRAINT dust_pkey PRIMARY KEY (tx_hash, wallet_id, inner_index),
  CONSTRAINT dust_tx_hash_check CHECK ((length(tx_hash) = 32)),
  CONSTRAINT dust_value_wei_check CHECK (((value_wei)::numeric > (0)::numeric)),
  CONSTRAINT dust_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES payment_wallets(id)
);
CREATE INDEX dust_block ON public.dust USING btree (block_number);

CREATE TABLE expulsions (
  block_hash hash NOT NULL,
  block_number bigint NOT NULL,
  cohort integer NOT NULL,
  node_id bigint NOT NULL,
  tx_hash hash NOT NULL,
  CONSTRAINT expulsions_cohort_fkey FOREIGN KEY (cohort) REFERENCES cohorts(cohort),
  CONSTRAINT expulsions_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(node_id) ON DELETE CASCADE,
  CONSTRAINT expulsions_pkey PRIMARY KEY (node_id)
);
CREATE INDEX expulsions_block ON public.expulsions USING btree (block_number);

CREATE TABLE grants (
  granted_at timestamp with time zone NOT NULL DEFAULT now(),
  granted_by text NOT NULL,
  reason text NOT NULL,
  ref hash NOT NULL,
  CONSTRAINT grants_pkey PRIMARY KEY (ref)
);

CREATE TABLE idempotency_keys (
  actor text NOT NULL,
  answer text,
  digest text NOT NULL,
  key text NOT NULL,
  started_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT idempotency_keys_key_check CHECK (((length(key) >= 1) AND (length(key) <= 128))),
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (actor, key)
);
CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (started_at);

CREATE TABLE migrations (
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  checksum text NOT NULL,
  name text NOT NULL,
  CONSTRAINT migrations_pkey PRIMARY KEY (name)
);

CREATE TABLE node_transfers (
  block_hash hash NOT NULL,
  block_number bigint NOT NULL,
  from_address address NOT NULL,
  log_index integer NOT NULL,
  node_id bigint NOT NULL,
  to_address address NOT NULL,
  tx_hash hash NOT NULL,
  CONSTRAINT node_transfers_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(node_id) ON DELETE CASCADE,
  CONSTRAINT node_transfers_pkey PRIMARY KEY (block_number, log_index)
);
CREATE INDEX node_transfers_node ON public.node_transfers USING btree (node_id, block_number DESC, log_index DESC);
CREATE INDEX node_transfers_to ON public.node_transfers USING btree (to_address, node_id);

CREATE TABLE nodes (
  block_hash hash NOT NULL,
  block_number bigint NOT NULL,
  cohort integer,
  id bigint GENERATED ALWAYS AS ((1000000000 + node_id)) STORED,
  mint_tx_hash hash NOT NULL,
  minted_at timestamp with time zone NOT NULL,
  node_id bigint NOT NULL,
  owner address NOT NULL,
  payment_id bigint,
  per_node_at_mint_wei wei NOT NULL,
  ref hash NOT NULL,
  turns_at_mint integer NOT NULL,
  withdrawn_wei wei NOT NULL DEFAULT 0,
  CONSTRAINT nodes_cohort_fkey FOREIGN KEY (cohort) REFERENCES cohorts(cohort),
  CONSTRAINT nodes_id_key UNIQUE (id),
  CONSTRAINT nodes_node_id_check CHECK ((node_id > 0)),
  CONSTRAINT nodes_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id),
  CONSTRAINT nodes_payment_id_key UNIQUE (payment_id),
  CONSTRAINT nodes_pkey PRIMARY KEY (node_id),
  CONSTRAINT nodes_ref_key UNIQUE (ref)
) WITH (fillfactor=90);
CREATE INDEX nodes_block ON public.nodes USING btree (block_number);
CREATE INDEX nodes_cohort ON public.nodes USING btree (cohort, node_id);
CREATE INDEX nodes_mint ON public.nodes USING btree (mint_tx_hash);
CREATE INDEX nodes_owner ON public.nodes USING btree (owner, node_id);
CREATE INDEX nodes_time ON public.nodes USING btree (minted_at);
CREATE INDEX nodes_unpaid ON public.nodes USING btree (cohort) WHERE (payment_id IS NULL);

CREATE TABLE outbox (
  block_hash hash,
  block_number bigint,
  block_time timestamp with time zone,
  call jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  fee_wei wei,
  gas_limit bigint NOT NULL,
  gas_used bigint,
  guard_block bigint,
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL,
  nonce bigint NOT NULL,
  sender address NOT NULL,
  state text NOT NULL DEFAULT 'pending'::text,
  to_address address,
  tx_hash hash,
  valid_until bigint,
  value_wei wei,
  CONSTRAINT outbox_check CHECK (((kind = 'foreign'::text) = (valid_until IS NULL))),
  CONSTRAINT outbox_check1 CHECK (((state = 'pending'::text) = (block_number IS NULL))),
  CONSTRAINT outbox_check2 CHECK (((block_number IS NULL) = (block_hash IS NULL))),
  CONSTRAINT outbox_check3 CHECK ((((block_number IS NULL) = (tx_hash IS NULL)) OR (state = 'displaced'::text))),
  CONSTRAINT outbox_kind_check CHECK ((kind = ANY (ARRAY['openCohorts'::text, 'mint'::text, 'credit'::text, 'foreign'::text]))),
  CONSTRAINT outbox_nonce_check CHECK ((nonce >= 0)),
  CONSTRAINT outbox_pkey PRIMARY KEY (id),
  CONSTRAINT outbox_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'mined'::text, 'reverted'::text, 'displaced'::text])))
);
CREATE INDEX outbox_block ON public.outbox USING btree (block_number) WHERE (block_number IS NOT NULL);
CREATE INDEX outbox_mints_valid ON public.outbox USING btree (valid_until) WHERE (kind = 'mint'::text);
CREATE UNIQUE INDEX outbox_nonce ON public.outbox USING btree (sender, nonce);
CREATE INDEX outbox_pending ON public.outbox USING btree (sender, nonce) WHERE (state = 'pending'::text);
CREATE INDEX outbox_sender ON public.outbox USING btree (sender, id DESC);
CREATE INDEX outbox_state ON public.outbox USING btree (state, id DESC);
CREATE INDEX outbox_time ON public.outbox USING btree (block_time) WHERE (block_time IS NOT NULL);

CREATE TABLE outbox_attempts (
  attempt integer NOT NULL,
  last_outcome text,
  last_sent_at timestamp with time zone,
  max_fee_wei wei NOT NULL,
  max_priority_fee_wei wei NOT NULL,
  outbox_id bigint NOT NULL,
  raw text NOT NULL,
  sends integer NOT NULL DEFAULT 0,
  signed_at timestamp with time zone NOT NULL DEFAULT now(),
  signed_at_block bigint NOT NULL,
  tx_hash hash NOT NULL,
  CONSTRAINT outbox_attempts_attempt_check CHECK ((attempt > 0)),
  CONSTRAINT outbox_attempts_outbox_id_attempt_key UNIQUE (outbox_id, attempt),
  CONSTRAINT outbox_attempts_outbox_id_fkey FOREIGN KEY (outbox_id) REFERENCES outbox(id),
  CONSTRAINT outbox_attempts_pkey PRIMARY KEY (tx_hash),
  CONSTRAINT outbox_attempts_raw_check CHECK ((raw ~ '^0x[0-9a-f]+$'::text))
);

CREATE TABLE owner_acts (
  at timestamp with time zone NOT NULL,
  block_hash hash NOT NULL,
  block_number bigint NOT NULL,
  detail jsonb NOT NULL,
  log_index integer NOT NULL,
  name text NOT NULL,
  tx_hash hash NOT NULL,
  CONSTRAINT owner_acts_pkey PRIMARY KEY (block_number, log_index)
);

CREATE TABLE owners (
  nodes integer NOT NULL,
  owner address NOT NULL,
  CONSTRAINT owners_nodes_check CHECK ((nodes > 0)),
  CONSTRAINT owners_pkey PRIMARY KEY (owner)
);

CREATE TABLE passes (
  error text,
  finished_at timestamp with time zone,
  name text NOT NULL,
  outcome jsonb,
  started_at timestamp with time zone NOT NULL,
  succeeded_at timestamp with time zone,
  CONSTRAINT passes_pkey PRIMARY KEY (name)
) WITH (fillfactor=50);

CREATE TABLE passkey_invitations (
  by_key bigint,
  by_passkey bigint,
  digest bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL DEFAULT (now() + '24:00:00'::interval),
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  label text NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  made_by text NOT NULL,
  passkey_expires_at timestamp with time zone NOT NULL,
  passkey_id bigint,
  revoked_at timestamp with time zone,
  revoked_by text,
  scopes text[] NOT NULL,
  CONSTRAINT passkey_invitations_by_key_fkey FOREIGN KEY (by_key) REFERENCES admin_keys(id),
  CONSTRAINT passkey_invitations_by_passkey_fkey FOREIGN KEY (by_passkey) REFERENCES passkeys(id),
  CONSTRAINT passkey_invitations_check CHECK (((revoked_at IS NULL) = (revoked_by IS NULL))),
  CONSTRAINT passkey_invitations_check1 CHECK (((passkey_id IS NULL) OR (revoked_at IS NULL))),
  CONSTRAINT passkey_invitations_digest_check CHECK ((length(digest) = 32)),
  CONSTRAINT passkey_invitations_digest_key UNIQUE (digest),
  CONSTRAINT passkey_invitations_label_check CHECK ((label ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'::text)),
  CONSTRAINT passkey_invitations_passkey_id_fkey FOREIGN KEY (passkey_id) REFERENCES passkeys(id),
  CONSTRAINT passkey_invitations_passkey_id_key UNIQUE (passkey_id),
  CONSTRAINT passkey_invitations_pkey PRIMARY KEY (id),
  CONSTRAINT passkey_invitations_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['read'::text, 'decide'::text, 'prices'::text, 'terms'::text, 'operate'::text])))
);

CREATE TABLE passkeys (
  counter bigint NOT NULL,
  credential_id bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  invited_by text NOT NULL,
  label text NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  public_key bytea NOT NULL,
  revoked_at timestamp with time zone,
  revoked_by text,
  scopes text[] NOT NULL,
  transports text[] NOT NULL,
  used_at timestamp with time zone,
  CONSTRAINT passkeys_check CHECK (((revoked_at IS NULL) = (revoked_by IS NULL))),
  CONSTRAINT passkeys_counter_check CHECK ((counter >= 0)),
  CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id),
  CONSTRAINT passkeys_label_check CHECK ((label ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'::text)),
  CONSTRAINT passkeys_pkey PRIMARY KEY (id),
  CONSTRAINT passkeys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['read'::text, 'decide'::text, 'prices'::text, 'terms'::text, 'operate'::text])))
);

CREATE TABLE payer_codes (
  block_hash hash NOT NULL,
  code jsonb NOT NULL,
  payment_id bigint NOT NULL,
  CONSTRAINT payer_codes_code_check CHECK (((code ->> 'kind'::text) = ANY (ARRAY['none'::text, 'delegation'::text, 'contract'::text]))),
  CONSTRAINT payer_codes_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id) ON DELETE CASCADE,
  CONSTRAINT payer_codes_pkey PRIMARY KEY (payment_id)
);

CREATE TABLE payment_retries (
  payment_id bigint NOT NULL,
  retry_time bigint NOT NULL,
  CONSTRAINT payment_retries_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id) ON DELETE CASCADE,
  CONSTRAINT payment_retries_pkey PRIMARY KEY (payment_id)
);

CREATE TABLE payment_verdicts (
  decided_at timestamp with time zone NOT NULL DEFAULT now(),
  decided_by text NOT NULL,
  evidence jsonb NOT NULL,
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  payment_id bigint NOT NULL,
  reason text,
  verdict text NOT NULL,
  withdrawn_at timestamp with time zone,
  withdrawn_by text,
  CONSTRAINT payment_verdicts_check CHECK (((withdrawn_at IS NULL) = (withdrawn_by IS NULL))),
  CONSTRAINT payment_verdicts_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id),
  CONSTRAINT payment_verdicts_pkey PRIMARY KEY (id),
  CONSTRAINT payment_verdicts_verdict_check CHECK ((verdict = ANY (ARRAY['accepted'::text, 'held'::text, 'ignored'::text, 'refunded'::text, 'dismissed'::text])))
);
CREATE INDEX payment_verdicts_payment ON public.payment_verdicts USING btree (payment_id, id DESC);

CREATE TABLE payment_wallets (
  closed_at timestamp with time zone,
  closed_block bigint,
  closed_by text,
  entered_at timestamp with time zone NOT NULL DEFAULT now(),
  entered_by text NOT NULL,
  from_block bigint NOT NULL,
  from_time bigint NOT NULL,
  grace_sec integer NOT NULL DEFAULT 900,
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  stolen boolean NOT NULL DEFAULT false,
  wallet address NOT NULL,
  watched_from bigint NOT NULL,
  CONSTRAINT payment_wallets_check CHECK ((num_nulls(closed_block, closed_at, closed_by) = ANY (ARRAY[0, 3]))),
  CONSTRAINT payment_wallets_from_block_check CHECK ((from_block >= 0)),
  CONSTRAINT payment_wallets_from_time_check CHECK ((from_time >= 0)),
  CONSTRAINT payment_wallets_grace_sec_check CHECK ((grace_sec >= 0)),
  CONSTRAINT payment_wallets_pkey PRIMARY KEY (id),
  CONSTRAINT payment_wallets_wallet_key UNIQUE (wallet),
  CONSTRAINT payment_wallets_watched_from_check CHECK ((watched_from >= 0))
);

CREATE TABLE payments (
  block_hash hash,
  block_number bigint,
  block_time timestamp with time zone NOT NULL,
  from_address address,
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  inner_index integer NOT NULL DEFAULT 0,
  node_id bigint,
  outbox_id bigint,
  reason text,
  ref hash NOT NULL,
  state text NOT NULL DEFAULT 'seen'::text,
  succeeded boolean NOT NULL,
  tier_id text,
  tier_version integer,
  tx_hash hash,
  tx_index integer,
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  value_wei wei NOT NULL,
  wallet address NOT NULL,
  CONSTRAINT payments_check CHECK (((state = 'orphaned'::text) = (block_number IS NULL))),
  CONSTRAINT payments_check1 CHECK (((block_number IS NULL) = (block_hash IS NULL))),
  CONSTRAINT payments_check2 CHECK ((((reason IS NOT NULL) = (state = ANY (ARRAY['held'::text, 'ignored'::text]))) OR (state = ANY (ARRAY['refunded'::text, 'dismissed'::text, 'orphaned'::text])))),
  CONSTRAINT payments_check3 CHECK (((state <> ALL (ARRAY['accepted'::text, 'minting'::text])) OR (tier_id IS NOT NULL))),
  CONSTRAINT payments_check4 CHECK (((from_address IS NOT NULL) OR (state = ANY (ARRAY['held'::text, 'refunded'::text, 'dismissed'::text, 'orphaned'::text])))),
  CONSTRAINT payments_check5 CHECK (((tx_hash IS NOT NULL) OR (from_address IS NULL))),
  CONSTRAINT payments_check6 CHECK (((state <> 'minting'::text) OR (outbox_id IS NOT NULL))),
  CONSTRAINT payments_check7 CHECK (((state = 'minted'::text) = (node_id IS NOT NULL))),
  CONSTRAINT payments_inner_index_check CHECK ((inner_index >= 0)),
  CONSTRAINT payments_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(node_id) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT payments_outbox_id_fkey FOREIGN KEY (outbox_id) REFERENCES outbox(id),
  CONSTRAINT payments_pkey PRIMARY KEY (id),
  CONSTRAINT payments_reason_check CHECK ((reason = ANY (ARRAY['wrongAmount'::text, 'saleClosed'::text, 'tierAllowance'::text, 'holding'::text, 'walletLimit'::text, 'senderDenied'::text, 'unattributed'::text, 'mintReverted'::text, 'mintedElsewhere'::text, 'oldWallet'::text, 'recheck'::text, 'refunding'::text, 'contractWallet'::text, 'self'::text, 'operator'::text, 'zero'::text, 'failed'::text]))),
  CONSTRAINT payments_ref_key UNIQUE (ref),
  CONSTRAINT payments_state_check CHECK ((state = ANY (ARRAY['seen'::text, 'accepted'::text, 'minting'::text, 'minted'::text, 'held'::text, 'refunded'::text, 'dismissed'::text, 'orphaned'::text, 'ignored'::text]))),
  CONSTRAINT payments_tier_id_tier_version_fkey FOREIGN KEY (tier_id, tier_version) REFERENCES tiers(tier_id, version),
  CONSTRAINT payments_tx_hash_wallet_inner_index_key UNIQUE (tx_hash, wallet, inner_index)
);
CREATE INDEX payments_block ON public.payments USING btree (block_number);
CREATE INDEX payments_held ON public.payments USING btree (block_number) WHERE (state = 'held'::text);
CREATE INDEX payments_held_value ON public.payments USING btree (value_wei) WHERE (state = 'held'::text);
CREATE UNIQUE INDEX payments_node ON public.payments USING btree (node_id) WHERE (node_id IS NOT NULL);
CREATE INDEX payments_open ON public.payments USING btree (block_number, tx_index, inner_index) WHERE (state = ANY (ARRAY['seen'::text, 'accepted'::text, 'minting'::text]));
CREATE INDEX payments_outbox ON public.payments USING btree (outbox_id) WHERE (outbox_id IS NOT NULL);
CREATE INDEX payments_payer ON public.payments USING btree (from_address, id DESC) WHERE (state <> 'ignored'::text);
CREATE INDEX payments_reason ON public.payments USING btree (reason, id DESC) WHERE (reason IS NOT NULL);
CREATE INDEX payments_residue ON public.payments USING btree (block_number) WHERE (tx_hash IS NULL);
CREATE INDEX payments_settled ON public.payments USING btree (state, id DESC) WHERE (state <> 'seen'::text);
CREATE INDEX payments_state_reason ON public.payments USING btree (state, reason, id DESC) WHERE (reason IS NOT NULL);
CREATE INDEX payments_tier ON public.payments USING btree (tier_id, id DESC) WHERE (tier_id IS NOT NULL);
CREATE INDEX payments_time ON public.payments USING btree (block_time) WHERE (state <> 'ignored'::text);
CREATE INDEX payments_wallet ON public.payments USING btree (from_address, tier_id) WHERE (state = ANY (ARRAY['accepted'::text, 'minting'::text]));

CREATE TABLE price (
  attempted_at timestamp with time zone NOT NULL,
  single boolean NOT NULL DEFAULT true,
  usd double precision,
  CONSTRAINT price_pkey PRIMARY KEY (single),
  CONSTRAINT price_single_check CHECK (single)
);

CREATE TABLE price_history (
  hour timestamp with time zone NOT NULL,
  quoted_at timestamp with time zone NOT NULL,
  usd double precision NOT NULL,
  CONSTRAINT price_history_hour_check CHECK ((hour = date_trunc('hour'::text, hour, 'UTC'::text))),
  CONSTRAINT price_history_pkey PRIMARY KEY (hour),
  CONSTRAINT price_history_usd_check CHECK ((usd > (0)::double precision))
);

CREATE TABLE proposals (
  act text NOT NULL,
  expires_at timestamp with time zone NOT NULL DEFAULT (now() + '7 days'::interval),
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  input jsonb NOT NULL,
  outcome text,
  proposed_at timestamp with time zone NOT NULL DEFAULT now(),
  proposed_by text NOT NULL,
  refusal text,
  settled_at timestamp with time zone,
  settled_by text,
  CONSTRAINT proposals_check CHECK ((((outcome IS NULL) = (settled_by IS NULL)) AND ((outcome IS NULL) = (settled_at IS NULL)))),
  CONSTRAINT proposals_check1 CHECK ((((outcome = 'failed'::text) IS TRUE) = (refusal IS NOT NULL))),
  CONSTRAINT proposals_outcome_check CHECK ((outcome = ANY (ARRAY['confirmed'::text, 'refused'::text, 'failed'::text]))),
  CONSTRAINT proposals_pkey PRIMARY KEY (id)
);

CREATE TABLE proven_wallets (
  address address NOT NULL,
  deployed boolean NOT NULL,
  proven_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT proven_wallets_pkey PRIMARY KEY (address)
);

CREATE TABLE provider_hours (
  faults bigint NOT NULL,
  host text NOT NULL,
  hour timestamp with time zone NOT NULL,
  requests bigint NOT NULL,
  CONSTRAINT provider_hours_check CHECK (((faults >= 0) AND (faults <= requests))),
  CONSTRAINT provider_hours_hour_check CHECK ((hour = date_trunc('hour'::text, hour, 'UTC'::text))),
  CONSTRAINT provider_hours_pkey PRIMARY KEY (hour, host),
  CONSTRAINT provider_hours_requests_check CHECK ((requests > 0))
);

CREATE TABLE refunds (
  block_hash hash NOT NULL,
  block_number bigint NOT NULL,
  final boolean NOT NULL DEFAULT false,
  from_address address NOT NULL,
  inner_index integer NOT NULL DEFAULT 0,
  payment_ref hash NOT NULL,
  recorded_at timestamp with time zone NOT NULL DEFAULT now(),
  recorded_by text NOT NULL,
  to_address address NOT NULL,
  tx_hash hash NOT NULL,
  value_wei wei NOT NULL,
  CONSTRAINT refunds_inner_index_check CHECK ((inner_index >= 0)),
  CONSTRAINT refunds_pkey PRIMARY KEY (payment_ref),
  CONSTRAINT refunds_transfer_key UNIQUE (tx_hash, to_address, inner_index)
);
CREATE INDEX refunds_block ON public.refunds USING btree (block_number);
CREATE INDEX refunds_open ON public.refunds USING btree (block_number) WHERE (NOT final);

CREATE TABLE residue_traces (
  kept boolean NOT NULL DEFAULT false,
  ref hash NOT NULL,
  shown jsonb,
  tried_at timestamp with time zone NOT NULL DEFAULT now(),
  tries integer NOT NULL DEFAULT 0,
  CONSTRAINT residue_traces_pkey PRIMARY KEY (ref)
);

CREATE TABLE rounds (
  answer text,
  answer_format smallint,
  block_hash hash NOT NULL,
  block_number bigint NOT NULL,
  created_at timestamp with time zone NOT NULL,
  mode text NOT NULL,
  node_count bigint NOT NULL,
  round bigint NOT NULL,
  total_wei wei NOT NULL,
  tx_hash hash NOT NULL,
  CONSTRAINT rounds_mode_check CHECK ((mode = ANY (ARRAY['treasury'::text, 'swaps'::text]))),
  CONSTRAINT rounds_pkey PRIMARY KEY (round),
  CONSTRAINT rounds_round_check CHECK ((round > 0))
);
CREATE INDEX rounds_block ON public.rounds USING btree (block_number);
CREATE INDEX rounds_newest ON public.rounds USING btree (created_at DESC, round DESC) WHERE (node_count > 0);
CREATE INDEX rounds_transaction ON public.rounds USING btree (tx_hash);

CREATE TABLE seed_blocks (
  "time" bigint NOT NULL,
  number bigint NOT NULL,
  parent_time bigint,
  seed hash NOT NULL,
  CONSTRAINT seed_blocks_pkey PRIMARY KEY (number)
);
CREATE INDEX seed_blocks_time ON public.seed_blocks USING btree ("time", number);

CREATE TABLE sender_bases (
  block_number bigint NOT NULL,
  nonce bigint NOT NULL,
  sender address NOT NULL,
  CONSTRAINT sender_bases_nonce_check CHECK ((nonce >= 0)),
  CONSTRAINT sender_bases_pkey PRIMARY KEY (sender)
);

CREATE TABLE senders (
  added_at timestamp with time zone NOT NULL DEFAULT now(),
  added_by text NOT NULL,
  address address NOT NULL,
  label text NOT NULL,
  reason text NOT NULL,
  CONSTRAINT senders_label_check CHECK (((length(label) >= 1) AND (length(label) <= 64))),
  CONSTRAINT senders_pkey PRIMARY KEY (address)
);

CREATE TABLE settings (
  name text NOT NULL,
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_by text NOT NULL,
  value jsonb NOT NULL,
  CONSTRAINT settings_pkey PRIMARY KEY (name)
);

CREATE TABLE single_turns (
  amount_wei wei,
  cohort integer NOT NULL,
  due bigint NOT NULL,
  max_wei wei,
  min_wei wei,
  payout_bps integer,
  round bigint NOT NULL,
  seed hash,
  seed_block bigint,
  CONSTRAINT single_turns_pkey PRIMARY KEY (round, cohort, due),
  CONSTRAINT single_turns_round_cohort_fkey FOREIGN KEY (round, cohort) REFERENCES turns(round, cohort) ON DELETE CASCADE
);

CREATE TABLE skips (
  cohort integer NOT NULL,
  due bigint NOT NULL,
  round bigint NOT NULL,
  turns bigint NOT NULL,
  CONSTRAINT skips_cohort_fkey FOREIGN KEY (cohort) REFERENCES cohorts(cohort),
  CONSTRAINT skips_pkey PRIMARY KEY (round, cohort),
  CONSTRAINT skips_round_fkey FOREIGN KEY (round) REFERENCES rounds(round) ON DELETE CASCADE,
  CONSTRAINT skips_turns_check CHECK ((turns > 0))
);

CREATE TABLE tier_figures (
  changes bigint NOT NULL,
  day integer NOT NULL,
  figures json NOT NULL,
  tier_no integer NOT NULL,
  CONSTRAINT tier_figures_pkey PRIMARY KEY (tier_no)
) WITH (fillfactor=50);

CREATE TABLE tier_figures_basis (
  changes bigint NOT NULL DEFAULT 0,
  single boolean NOT NULL DEFAULT true,
  CONSTRAINT tier_figures_basis_pkey PRIMARY KEY (single),
  CONSTRAINT tier_figures_basis_single_check CHECK (single)
) WITH (fillfactor=50);

CREATE TABLE tiers (
  entered_at timestamp with time zone NOT NULL DEFAULT now(),
  entered_by text NOT NULL,
  from_block bigint NOT NULL,
  from_time bigint NOT NULL,
  grace_sec integer NOT NULL DEFAULT 900,
  holding_decimals integer,
  holding_retry_sec integer NOT NULL DEFAULT 3600,
  holding_symbol text,
  holding_token address,
  holding_wei wei NOT NULL DEFAULT 0,
  label text NOT NULL,
  live boolean NOT NULL DEFAULT true,
  max_per_wallet integer NOT NULL,
  on_sale boolean NOT NULL,
  payout_bps integer NOT NULL,
  price_wei wei NOT NULL,
  tier_id text NOT NULL,
  tier_no integer NOT NULL,
  version integer NOT NULL,
  CONSTRAINT tiers_check CHECK ((((holding_wei)::numeric = (0)::numeric) = (holding_token IS NULL))),
  CONSTRAINT tiers_grace_sec_check CHECK ((grace_sec >= 0)),
  CONSTRAINT tiers_holding_retry_sec_check CHECK ((holding_retry_sec >= 0)),
  CONSTRAINT tiers_label_check CHECK (((length(label) >= 1) AND (length(label) <= 64))),
  CONSTRAINT tiers_max_per_wallet_check CHECK ((max_per_wallet > 0)),
  CONSTRAINT tiers_payout_bps_check CHECK (((payout_bps >= 0) AND (payout_bps <= 1000000))),
  CONSTRAINT tiers_pkey PRIMARY KEY (tier_id, version),
  CONSTRAINT tiers_price_wei_check CHECK (((price_wei)::numeric > (0)::numeric)),
  CONSTRAINT tiers_tier_id_check CHECK ((tier_id ~ '^[a-z0-9][a-z0-9-]{0,31}$'::text)),
  CONSTRAINT tiers_tier_no_check CHECK (((tier_no >= 1) AND (tier_no <= 65535))),
  CONSTRAINT tiers_version_check CHECK ((version > 0))
);
CREATE UNIQUE INDEX tiers_live ON public.tiers USING btree (tier_id) WHERE live;
CREATE UNIQUE INDEX tiers_live_no ON public.tiers USING btree (tier_no) WHERE live;
CREATE INDEX tiers_no ON public.tiers USING btree (tier_no, from_time);
CREATE UNIQUE INDEX tiers_price_on_sale ON public.tiers USING btree (price_wei) WHERE (live AND on_sale);

CREATE TABLE totals (
  distributed_wei wei NOT NULL DEFAULT 0,
  nodes bigint NOT NULL DEFAULT 0,
  owners bigint NOT NULL DEFAULT 0,
  rounds bigint NOT NULL DEFAULT 0,
  sales_wei wei NOT NULL DEFAULT 0,
  single boolean NOT NULL DEFAULT true,
  withdrawn_wei wei NOT NULL DEFAULT 0,
  CONSTRAINT totals_check CHECK (((withdrawn_wei)::numeric <= (distributed_wei)::numeric)),
  CONSTRAINT totals_nodes_check CHECK ((nodes >= 0)),
  CONSTRAINT totals_owners_check CHECK ((owners >= 0)),
  CONSTRAINT totals_pkey PRIMARY KEY (single),
  CONSTRAINT totals_rounds_check CHECK ((rounds >= 0)),
  CONSTRAINT totals_single_check CHECK (single)
) WITH (fillfactor=50);

CREATE TABLE trace_days (
  day date NOT NULL,
  failed integer NOT NULL DEFAULT 0,
  traced integer NOT NULL DEFAULT 0,
  unbudgeted integer NOT NULL DEFAULT 0,
  CONSTRAINT trace_days_pkey PRIMARY KEY (day)
);

CREATE TABLE turns (
  amount_wei wei NOT NULL,
  answer text,
  answer_format smallint,
  cohort integer NOT NULL,
  due bigint NOT NULL,
  max_wei wei,
  min_wei wei,
  node_count integer NOT NULL,
  payout_bps integer,
  round bigint NOT NULL,
  seed hash,
  seed_block bigint,
  tier_id text,
  turn_no integer NOT NULL,
  turns integer NOT NULL,
  unpriced_hour timestamp with time zone,
  CONSTRAINT turns_cohort_due_key UNIQUE (cohort, due),
  CONSTRAINT turns_cohort_fkey FOREIGN KEY (cohort) REFERENCES cohorts(cohort),
  CONSTRAINT turns_pkey PRIMARY KEY (round, cohort),
  CONSTRAINT turns_round_fkey FOREIGN KEY (round) REFERENCES rounds(round) ON DELETE CASCADE,
  CONSTRAINT turns_turn_no_check CHECK ((turn_no > 0)),
  CONSTRAINT turns_turns_check CHECK ((turns > 0))
);
CREATE UNIQUE INDEX turns_cohort ON public.turns USING btree (cohort, turn_no DESC);

CREATE TABLE used_nonces (
  expires_at timestamp with time zone NOT NULL,
  nonce_hash text NOT NULL,
  CONSTRAINT used_nonces_pkey PRIMARY KEY (nonce_hash)
);
CREATE INDEX used_nonces_expiry ON public.used_nonces USING btree (expires_at);

CREATE TABLE wallet_books (
  audited_block bigint,
  base_block bigint,
  base_wei numeric(78,0),
  dust_transfers bigint NOT NULL DEFAULT 0,
  in_wei wei NOT NULL DEFAULT 0,
  out_wei wei NOT NULL DEFAULT 0,
  wallet address NOT NULL,
  zero_transfers bigint NOT NULL DEFAULT 0,
  CONSTRAINT wallet_books_check CHECK ((num_nulls(base_wei, base_block, audited_block) = ANY (ARRAY[0, 3]))),
  CONSTRAINT wallet_books_dust_transfers_check CHECK ((dust_transfers >= 0)),
  CONSTRAINT wallet_books_pkey PRIMARY KEY (wallet),
  CONSTRAINT wallet_books_zero_transfers_check CHECK ((zero_transfers >= 0))
) WITH (fillfactor=50);

CREATE TABLE wallet_outflows (
  block_hash hash NOT NULL,
  block_number bigint NOT NULL,
  block_time timestamp with time zone NOT NULL,
  fee_wei wei NOT NULL,
  from_block bigint,
  inner_index integer NOT NULL DEFAULT 0,
  ref hash NOT NULL,
  to_address address,
  tx_hash hash,
  value_wei wei NOT NULL,
  wallet address NOT NULL,
  CONSTRAINT wallet_outflows_check CHECK ((from_block <= block_number)),
  CONSTRAINT wallet_outflows_inner_index_check CHECK ((inner_index >= 0)),
  CONSTRAINT wallet_outflows_pkey PRIMARY KEY (ref),
  CONSTRAINT wallet_outflows_tx_hash_wallet_inner_index_key UNIQUE (tx_hash, wallet, inner_index)
);
CREATE INDEX wallet_outflows_block ON public.wallet_outflows USING btree (block_number);
CREATE INDEX wallet_outflows_residue ON public.wallet_outflows USING btree (block_number) WHERE (tx_hash IS NULL);

CREATE TABLE webhook_attempts (
  at timestamp with time zone NOT NULL DEFAULT now(),
  delivery_id bigint NOT NULL,
  duration_ms integer NOT NULL,
  error text,
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  status integer,
  CONSTRAINT webhook_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES webhook_deliveries(id) ON DELETE CASCADE,
  CONSTRAINT webhook_attempts_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_attempts_delivery ON public.webhook_attempts USING btree (delivery_id, id);

CREATE TABLE webhook_deliveries (
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamp with time zone NOT NULL DEFAULT now(),
  endpoint text NOT NULL,
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  seq bigint NOT NULL,
  settled_at timestamp with time zone,
  state text NOT NULL DEFAULT 'pending'::text,
  CONSTRAINT webhook_deliveries_endpoint_fkey FOREIGN KEY (endpoint) REFERENCES webhook_endpoints(endpoint),
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_deliveries_seq_endpoint_key UNIQUE (seq, endpoint),
  CONSTRAINT webhook_deliveries_seq_fkey FOREIGN KEY (seq) REFERENCES webhook_events(seq) ON DELETE CASCADE,
  CONSTRAINT webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
) WITH (fillfactor=70);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (endpoint, due_at) WHERE (state = 'pending'::text);
CREATE INDEX webhook_deliveries_failed ON public.webhook_deliveries USING btree (id) WHERE (state = 'failed'::text);

CREATE TABLE webhook_endpoints (
  active boolean NOT NULL DEFAULT true,
  added_at timestamp with time zone NOT NULL DEFAULT now(),
  added_by text NOT NULL,
  disabled_at timestamp with time zone,
  endpoint text NOT NULL,
  events text[],
  failing_since timestamp with time zone,
  last_error text,
  last_success_at timestamp with time zone,
  secrets text[] NOT NULL,
  url text NOT NULL,
  CONSTRAINT webhook_endpoints_events_check CHECK ((cardinality(events) > 0)),
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (endpoint),
  CONSTRAINT webhook_endpoints_secrets_check CHECK (((cardinality(secrets) >= 1) AND (cardinality(secrets) <= 2)))
);

CREATE TABLE webhook_events (
  body text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  id text NOT NULL,
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  type text NOT NULL,
  CONSTRAINT webhook_events_id_key UNIQUE (id),
  CONSTRAINT webhook_events_pkey PRIMARY KEY (seq)
);
CREATE INDEX webhook_events_age ON public.webhook_events USING btree (created_at);

CREATE TABLE withdrawals (
  amount_wei wei NOT NULL,
  answer text,
  answer_format smallint,
  block_hash hash NOT NULL,
  block_number bigint NOT NULL,
  confirmed_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  log_index integer,
  node_id bigint NOT NULL,
  status text NOT NULL,
  to_address address NOT NULL,
  tx_hash hash NOT NULL,
  unpriced_hour timestamp with time zone,
  withdrawn_total_wei wei,
  CONSTRAINT withdrawals_check CHECK (((status = 'sent'::text) = (withdrawn_total_wei IS NOT NULL))),
  CONSTRAINT withdrawals_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(node_id) ON DELETE CASCADE,
  CONSTRAINT withdrawals_pkey PRIMARY KEY (id),
  CONSTRAINT withdrawals_status_check CHECK ((status = ANY (ARRAY['signed'::text, 'sent'::text, 'failed'::text]))),
  CONSTRAINT withdrawals_tx_hash_log_index_node_id_key UNIQUE NULLS NOT DISTINCT (tx_hash, log_index, node_id)
);
CREATE INDEX withdrawals_block ON public.withdrawals USING btree (block_number);
CREATE INDEX withdrawals_node ON public.withdrawals USING btree (node_id, id DESC);

CREATE TABLE zero_transfers (
  block_number bigint NOT NULL,
  transfers integer NOT NULL,
  wallet_id integer NOT NULL,
  CONSTRAINT zero_transfers_pkey PRIMARY KEY (block_number, wallet_id),
  CONSTRAINT zero_transfers_transfers_check CHECK ((transfers > 0)),
  CONSTRAINT zero_transfers_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES payment_wallets(id)
);

CREATE TRIGGER webhook_act AFTER INSERT ON public.audit FOR EACH ROW WHEN ((new.action = ANY (ARRAY['halted'::text, 'resumed'::text, 'haltWithdrawn'::text, 'paused'::text, 'unpaused'::text, 'released'::text, 'dismissed'::text, 'dustDismissed'::text, 'refunding'::text, 'refunded'::text, 'refundPrepared'::text, 'refundCancelled'::text, 'attributed'::text, 'termsEntered'::text, 'termsTakenBack'::text, 'tierCreated'::text, 'tierChanged'::text, 'walletChanged'::text, 'walletTakenBack'::text, 'walletClosed'::text, 'signerDown'::text, 'signerRestored'::text, 'foreignTransaction'::text, 'restored'::text]))) EXECUTE FUNCTION webhook_act();
CREATE TRIGGER webhook_key AFTER INSERT ON public.audit FOR EACH ROW WHEN ((new.action = ANY (ARRAY['wrongAdminKeys'::text, 'keyMade'::text, 'keyRevoked'::text, 'keysRevoked'::text, 'proposed'::text, 'passkeyInvited'::text, 'invitationRevoked'::text, 'passkeyMade'::text, 'passkeyRevoked'::text, 'passkeyCopied'::text]))) EXECUTE FUNCTION webhook_key();
CREATE TRIGGER webhook_refund_alarm AFTER INSERT ON public.audit FOR EACH ROW WHEN ((new.action = ANY (ARRAY['mintedThoughRefunding'::text, 'mintedThoughRefunded'::text, 'refundTooEarly'::text, 'refundOfMinted'::text, 'refundOfOrphaned'::text, 'refundGone'::text]))) EXECUTE FUNCTION webhook_refund_alarm();
CREATE TRIGGER webhook_reorganisation AFTER INSERT ON public.audit FOR EACH ROW WHEN ((new.action = 'reorganisation'::text)) EXECUTE FUNCTION webhook_reorganisation();
CREATE TRIGGER junk_forgotten AFTER DELETE ON public.cursors FOR EACH ROW WHEN ((old.name = 'follow'::text)) EXECUTE FUNCTION junk_taken_back();
CREATE TRIGGER junk_taken_back AFTER UPDATE ON public.cursors FOR EACH ROW WHEN (((new.name = 'follow'::text) AND (new.block_number < old.block_number))) EXECUTE FUNCTION junk_taken_back();
CREATE TRIGGER dust_credited AFTER INSERT ON public.dust REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION dust_credited();
CREATE TRIGGER dust_uncredited AFTER DELETE ON public.dust REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION dust_uncredited();
CREATE TRIGGER nodes_deleted AFTER DELETE ON public.nodes REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION nodes_deleted();
CREATE TRIGGER nodes_inserted AFTER INSERT ON public.nodes REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION nodes_inserted();
CREATE TRIGGER nodes_updated AFTER UPDATE ON public.nodes REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION nodes_updated();
CREATE TRIGGER outbox_timed BEFORE INSERT OR UPDATE OF block_number ON public.outbox FOR EACH ROW EXECUTE FUNCTION outbox_block_time();
CREATE TRIGGER wallet_entered AFTER INSERT ON public.payment_wallets FOR EACH ROW EXECUTE FUNCTION wallet_entered();
CREATE TRIGGER payer_unread BEFORE UPDATE OF state ON public.payments FOR EACH ROW WHEN (((old.state = 'seen'::text) AND (new.state = 'accepted'::text) AND (new.inner_index > 0))) EXECUTE FUNCTION payer_unread();
CREATE TRIGGER payments_sold AFTER UPDATE OF state ON public.payments FOR EACH ROW WHEN (((old.state = 'minted'::text) <> (new.state = 'minted'::text))) EXECUTE FUNCTION payments_sold();
CREATE TRIGGER wallet_credited AFTER INSERT ON public.payments REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION wallet_credited();
CREATE TRIGGER wallet_recredited AFTER UPDATE OF state ON public.payments FOR EACH ROW WHEN (((old.state = 'orphaned'::text) <> (new.state = 'orphaned'::text))) EXECUTE FUNCTION wallet_recredited();
CREATE TRIGGER wallet_revalued AFTER UPDATE OF value_wei ON public.payments FOR EACH ROW WHEN ((((old.value_wei)::numeric <> (new.value_wei)::numeric) AND new.succeeded AND (old.state <> 'orphaned'::text) AND (new.state <> 'orphaned'::text))) EXECUTE FUNCTION wallet_revalued();
CREATE TRIGGER webhook_payment_inserted AFTER INSERT ON public.payments FOR EACH ROW WHEN ((new.state = 'held'::text)) EXECUTE FUNCTION webhook_payment();
CREATE TRIGGER webhook_payment_updated AFTER UPDATE OF state, reason ON public.payments FOR EACH ROW WHEN (((new.state = ANY (ARRAY['held'::text, 'minted'::text])) AND ((old.state IS DISTINCT FROM new.state) OR (old.reason IS DISTINCT FROM new.reason)))) EXECUTE FUNCTION webhook_payment();
CREATE TRIGGER answers_prices_deleted AFTER DELETE ON public.price_history REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION answers_repriced();
CREATE TRIGGER answers_prices_updated AFTER UPDATE ON public.price_history REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION answers_repriced();
CREATE TRIGGER figures_prices_deleted AFTER DELETE ON public.price_history REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION figures_changed();
CREATE TRIGGER figures_prices_inserted AFTER INSERT ON public.price_history REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION figures_changed();
CREATE TRIGGER figures_prices_updated AFTER UPDATE ON public.price_history REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION figures_changed();
CREATE TRIGGER rounds_deleted AFTER DELETE ON public.rounds REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION rounds_deleted();
CREATE TRIGGER rounds_inserted AFTER INSERT ON public.rounds REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION rounds_inserted();
CREATE TRIGGER webhook_round AFTER INSERT ON public.rounds FOR EACH ROW WHEN ((new.node_count > 0)) EXECUTE FUNCTION webhook_round();
CREATE TRIGGER webhook_setting AFTER INSERT OR UPDATE ON public.settings FOR EACH ROW WHEN (((new.name = ANY (ARRAY['drift'::text, 'budget'::text])) OR (new.name ~~ 'funds %'::text))) EXECUTE FUNCTION webhook_setting();
CREATE TRIGGER figures_turns_deleted AFTER DELETE ON public.turns REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION figures_changed();
CREATE TRIGGER figures_turns_inserted AFTER INSERT ON public.turns REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION figures_changed();
CREATE TRIGGER figures_turns_updated AFTER UPDATE ON public.turns REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION figures_changed();
CREATE TRIGGER wallet_debited AFTER INSERT ON public.wallet_outflows REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION wallet_debited();
CREATE TRIGGER wallet_undebited AFTER DELETE ON public.wallet_outflows REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION wallet_undebited();
CREATE TRIGGER webhook_withdrawals AFTER INSERT ON public.withdrawals REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION webhook_withdrawals();
CREATE TRIGGER zero_transfers_counted AFTER INSERT ON public.zero_transfers REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION zero_transfers_counted();
CREATE TRIGGER zero_transfers_uncounted AFTER DELETE ON public.zero_transfers REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION zero_transfers_uncounted();
