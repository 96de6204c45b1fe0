// The commands about webhooks: endpoints and deliveries.
import type { Command } from '../command.ts'
import { PAGE } from './options.ts'

export const WEBHOOKS: readonly Command[] = [
  {
    name: 'webhooks list',
    group: 'decide',
    summary: 'list the endpoints that events are sent to, and how they do',
    details: 'An endpoint is named by its host and a digest of its URL, which may itself be a secret.',
    examples: ['node-ledger webhooks list'],
    load: async () => (await import('../desk/webhooks.ts')).list,
  },
  {
    name: 'webhooks add',
    group: 'decide',
    summary: 'send events to the endpoints that WEBHOOK_URL names, mail too, or change the secrets of known ones',
    details: `For all instances, from now on. URL and secret are read from WEBHOOK_URL and WEBHOOK_SECRET (or WEBHOOK_URL_FILE, WEBHOOK_SECRET_FILE), so
that neither is seen in a list of processes. Two secrets with a comma, the newest first, sign each event twice while receivers change over.
A chat's own webhook and a mail server (smtps://user:password@host?from=…&to=…) need no secret. WEBHOOK_EVENTS says which kinds of events they are
sent; without it a known one keeps its own.`,
    examples: ['node-ledger webhooks add'],
    load: async () => (await import('../desk/webhooks.ts')).add,
  },
  {
    name: 'webhooks events',
    group: 'decide',
    summary: 'say which kinds of events an endpoint is sent',
    details: `From now on. What waits for it of other kinds is not sent any more; kinds that are new to it begin with what happens next.`,
    args: [
      { name: 'endpoint', help: 'as "webhooks list" shows it' },
      { name: 'events', help: 'all, or kinds with commas' },
    ],
    examples: [
      'node-ledger webhooks events <endpoint> payment.held,funds.low',
      'node-ledger webhooks events <endpoint> all',
    ],
    load: async () => (await import('../desk/webhooks.ts')).choose,
  },
  {
    name: 'webhooks remove',
    group: 'decide',
    summary: 'tell an endpoint nothing more',
    args: [{ name: 'endpoint', help: 'as "webhooks list" shows it' }],
    examples: ['node-ledger webhooks remove <endpoint>'],
    load: async () => (await import('../desk/webhooks.ts')).remove,
  },
  {
    name: 'webhooks deliveries',
    group: 'decide',
    summary: 'list deliveries, newest first, with what came of them; --json has each event and the log of its attempts',
    options: {
      state: { value: 'state', help: 'pending, delivered or failed' },
      type: { value: 'type', help: 'payment.minted, round.credited and so on' },
      ...PAGE,
    },
    examples: ['node-ledger webhooks deliveries --state failed', 'node-ledger webhooks deliveries --json'],
    load: async () => (await import('../desk/webhooks.ts')).deliveries,
  },
  {
    name: 'webhooks redeliver',
    group: 'decide',
    summary: 'make a delivery again, failed or not',
    args: [{ name: 'id', help: 'the delivery, as "webhooks deliveries" shows it' }],
    examples: ['node-ledger webhooks redeliver <delivery>'],
    load: async () => (await import('../desk/webhooks.ts')).sendAgain,
  },
  {
    name: 'webhooks enable',
    group: 'decide',
    summary: 'send again to an endpoint that was given up on; what waited goes at once',
    args: [{ name: 'endpoint', help: 'as "webhooks list" shows it' }],
    examples: ['node-ledger webhooks enable <endpoint>'],
    load: async () => (await import('../desk/webhooks.ts')).enable,
  },
]
