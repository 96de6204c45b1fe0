-- Anyone may ask what a wallet has paid. Transfers that are no sale are left out by the index itself: of these, one wallet can make many.
CREATE INDEX payments_payer ON payments (from_address, id DESC) WHERE state <> 'ignored';
