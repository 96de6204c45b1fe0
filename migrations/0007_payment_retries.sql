-- Payments whose facts could not be read, and the block time from which they are asked for again. The later payments of the same wallet
-- wait with them. Rows of payments that were decided since are removed by the judge.
CREATE TABLE payment_retries (
  payment_id bigint PRIMARY KEY REFERENCES payments ON DELETE CASCADE,
  retry_time bigint NOT NULL
);
