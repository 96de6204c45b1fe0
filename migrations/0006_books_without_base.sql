-- Books whose beginning a reorganisation took out still know whose wallet they were kept for: where that changes, or has changed before,
-- what they hold is another one's too, and they must not begin again from before the first block.
ALTER TABLE wallet_books DROP CONSTRAINT wallet_books_check;
ALTER TABLE wallet_books ADD CONSTRAINT wallet_books_check
  CHECK (num_nulls(base_wei, base_block, audited_block) IN (0, 3) AND (wallet IS NOT NULL OR base_wei IS NULL));
