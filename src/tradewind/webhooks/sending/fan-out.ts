import type { Logger } from 'pino';
import { announce, type ChangeFeed } from '../../../db/changes.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { type Loop, loop } from '../../../lib/loop.ts';
import type { Clock } from '../../../lib/time.ts';
import { createEventReader, type EventRow, presentedEvent, typeMatcher } from '../../events/service.ts';
import { DELIVERED_WITHIN_MS, READER, WEBHOOKS } from '../store.ts';
import { insertDeliveries, type Told, wantedAfter, webhooksFor } from './fan-out-store.ts';

/** How long a lost announcement may delay events. */
const LOOK_MS = 1_000;

/** Writes for each event what is to be delivered to whom. Any number of processes share this. */
export function startFanOut(deps: { database: Database; changes: ChangeFeed; clock: Clock; log: Logger }): {
  stop(): Promise<void>;
} {
  const { database, changes, clock, log } = deps;
  const reader = createEventReader(database, READER);
  let stopped = false;
  let isListening = false;

  async function tell(tx: Transaction, events: readonly EventRow[]): Promise<void> {
    const clientIds = [...new Set(events.map(({ client_id }) => client_id))];
    const webhooks = (await webhooksFor(tx.sql, clientIds)).map((one) => {
      const matchers = one.types.map(typeMatcher);
      return { ...one, wants: (type: string) => matchers.some((matches) => matches(type)) };
    });
    const told = events.flatMap((event): Told[] => {
      const takers = webhooks.filter(
        (one) =>
          (one.all_accounts || one.client_id === event.client_id) &&
          event.position > one.after_position &&
          one.wants(event.type),
      );
      if (takers.length === 0) return [];
      const { id: event_id, type, subject } = event;
      const body = JSON.stringify(presentedEvent(event));
      return takers.map(({ id, client_id }) => ({
        webhook_id: id,
        client_id,
        event_id,
        type,
        subject,
        body,
      }));
    });
    if (told.length === 0) return;
    const now = clock.now();
    await insertDeliveries(tx, told, { now, expiresAt: new Date(now.getTime() + DELIVERED_WITHIN_MS) });
    await announce(tx.client, WEBHOOKS, '');
  }

  const telling: Loop = loop('telling webhooks', LOOK_MS, log, async () => {
    const from = await wantedAfter(database.sql);
    await reader.want(from);
    if (from === undefined) return;
    listen();
    while (!stopped && (await reader.next(tell)) > 0);
  });

  /** Looks again at the next event. */
  function listen(): void {
    if (isListening) return;
    isListening = true;
    void reader.news().then(() => {
      isListening = false;
      if (!stopped) telling.now();
    });
  }
  const look = () => telling.now();
  changes.on(WEBHOOKS, look, look);

  return {
    async stop() {
      stopped = true;
      reader.stop();
      await telling.stop();
    },
  };
}
