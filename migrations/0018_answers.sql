-- What the API shows of a row that never changes, as JSON in a format that the code knows. Null in rows from before, which are shown by their columns.
ALTER TABLE turns ADD COLUMN answer text, ADD COLUMN answer_format smallint,
  -- The hour whose price ends the answer; null where the answer has it.
  ADD COLUMN unpriced_hour timestamptz;
ALTER TABLE withdrawals ADD COLUMN answer text, ADD COLUMN answer_format smallint, ADD COLUMN unpriced_hour timestamptz;
ALTER TABLE rounds ADD COLUMN answer text, ADD COLUMN answer_format smallint;
-- To decompress fifty rounds takes longer than to read them.
ALTER TABLE rounds ALTER COLUMN answer SET STORAGE EXTERNAL;

-- No code changes a price of the past. A hand at the database may: then what was made of it is shown by its columns again.
CREATE FUNCTION answers_repriced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE turns t SET answer_format = NULL FROM rounds r
  WHERE r.round = t.round AND date_trunc('hour', r.created_at, 'UTC') IN (SELECT hour FROM changed);
  UPDATE withdrawals SET answer_format = NULL WHERE date_trunc('hour', created_at, 'UTC') IN (SELECT hour FROM changed);
  RETURN NULL;
END $$;
CREATE TRIGGER answers_prices_updated AFTER UPDATE ON price_history
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION answers_repriced();
CREATE TRIGGER answers_prices_deleted AFTER DELETE ON price_history
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION answers_repriced();
