-- The kinds of events that an endpoint is told, or {all}. Null where nobody has chosen: all, but for mail, of which the worker forgets what its URL
-- does not name. Held here, and not where events are delivered, so that an instance from before this migration tells no others.
ALTER TABLE webhook_endpoints ADD COLUMN events text[] CHECK (cardinality(events) > 0);

CREATE OR REPLACE FUNCTION webhook_emit(event_type text, fact text, data jsonb) RETURNS void LANGUAGE plpgsql AS $$
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
END $$;
