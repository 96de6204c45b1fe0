-- What the nodes of a tier got in the last thirty days, as /api/tiers/:id/figures tells it: worked out by a pass, so that a read costs one row
-- however many rounds those days had. A row holds while nothing that it was worked out from has changed, which triggers count: so code from
-- before this migration, a rewind and a hand at the database all make it void, and a read without a row works the figures out itself.
CREATE TABLE tier_figures_basis (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  changes bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
INSERT INTO tier_figures_basis DEFAULT VALUES;

CREATE TABLE tier_figures (
  tier_no integer PRIMARY KEY,
  -- Those of the basis as it was worked out: void once there are more.
  changes bigint NOT NULL,
  -- The day of the block that was followed to, counted from 1970-01-01 in UTC: void on another.
  day integer NOT NULL,
  figures json NOT NULL
) WITH (fillfactor = 50);

CREATE FUNCTION figures_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM changed) THEN
    UPDATE tier_figures_basis SET changes = changes + 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER figures_turns_inserted AFTER INSERT ON turns
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION figures_changed();
CREATE TRIGGER figures_turns_updated AFTER UPDATE ON turns
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION figures_changed();
CREATE TRIGGER figures_turns_deleted AFTER DELETE ON turns
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION figures_changed();
CREATE TRIGGER figures_prices_inserted AFTER INSERT ON price_history
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION figures_changed();
CREATE TRIGGER figures_prices_updated AFTER UPDATE ON price_history
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION figures_changed();
CREATE TRIGGER figures_prices_deleted AFTER DELETE ON price_history
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION figures_changed();
