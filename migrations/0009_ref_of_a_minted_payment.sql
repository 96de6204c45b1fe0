-- A transaction may make several payments: their nodes are told by the payment's `ref`, too, as those that are held are.
CREATE OR REPLACE FUNCTION webhook_payment() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;
