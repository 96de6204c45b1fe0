-- The operator lists the payments of a tier, newest first.
CREATE INDEX payments_tier ON payments (tier_id, id DESC) WHERE tier_id IS NOT NULL;
