import type { Database } from '../../db/database.ts';
import type { Authenticator } from '../identity/service.ts';
import { recordUses } from './store.ts';

const INTERVAL_MS = 5_000;

/** Records every few seconds when tokens were used: in one statement for all of them, and outside of requests. */
export function createTokenUseRecorder(
  deps: {
    database: Database;
    authenticator: Pick<Authenticator, 'takeUses'>;
    log: { warn(details: object, message: string): void };
  },
  intervalMs = INTERVAL_MS,
) {
  const pending = new Map<number, Date>();
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    for (const { tokenId, at } of deps.authenticator.takeUses()) pending.set(tokenId, at);
    const uses = [...pending].map(([tokenId, at]) => ({ tokenId, at }));
    if (uses.length === 0) return;
    try {
      await deps.database.transaction((tx) => recordUses(tx.sql, uses));
      pending.clear();
    } catch (error) {
      deps.log.warn({ err: error }, 'The last use of tokens could not be recorded; trying again');
    }
  }
  const flush = () => {
    last = last.then(write);
    return last;
  };

  return {
    start(): void {
      timer ??= setInterval(() => void flush(), intervalMs).unref();
    },
    /** Writes the rest and stops. Call it after the last request and before the database closes. */
    async stop(): Promise<void> {
      clearInterval(timer);
      timer = undefined;
      await flush();
    },
  };
}
