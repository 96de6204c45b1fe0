-- Residues can be taken apart by hand, also where no provider has the trace: `word` says that only the operator's word shows who sent a part.
ALTER TABLE attributions ADD COLUMN proof text NOT NULL DEFAULT 'trace' CHECK (proof IN ('trace', 'word'));

-- `shown`: what a trace shows of a residue that stays, since it is decided or the trace contradicts what was attributed.
-- `kept`: decided in the ledger that this one was rebuilt from. It is filed whole, whatever a trace shows.
ALTER TABLE residue_traces ADD COLUMN shown jsonb, ADD COLUMN kept boolean NOT NULL DEFAULT false;

-- A residue that left may have left in several blocks, from this one on; null for a transaction's outflow.
ALTER TABLE wallet_outflows ADD COLUMN from_block bigint CHECK (from_block <= block_number);
UPDATE wallet_outflows o SET from_block = (a.detail ->> 'fromBlock')::bigint FROM audit a
WHERE o.tx_hash IS NULL AND a.subject = o.ref AND a.action = 'unattributedOutflow';

-- Residues are few among the payments, and each payments pass looks for those to trace again.
CREATE INDEX payments_residue ON payments (block_number) WHERE tx_hash IS NULL;
CREATE INDEX wallet_outflows_residue ON wallet_outflows (block_number) WHERE tx_hash IS NULL;
