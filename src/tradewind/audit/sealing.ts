import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import { haveEndedBefore, takeNumber } from '../../db/finality.ts';
import type { Clock } from '../../lib/time.ts';
import { lockSeals, newestRecord, noteRemoval, removeSeals, sealNext } from './chain.ts';

const BATCH = 5_000;
/** While a transaction may still write an earlier record. */
const PAUSE_MS = 50;
const PATIENCE_MS = 2_000;

/**
 * Links the records that were written since the last time. Those who write them wait for nothing: only their order has to
 * be certain. Returns how many were sealed; none while a transaction takes long.
 */
export async function sealRecords(database: Pick<Database, 'sql' | 'transaction'>, clock: Clock): Promise<number> {
  const { sql } = database;
  const upTo = await newestRecord(sql);
  const number = await takeNumber(sql);
  const end = performance.now() + PATIENCE_MS;
  while (!(await haveEndedBefore(sql, number))) {
    if (performance.now() > end) return 0;
    await sleep(PAUSE_MS);
  }
  let sealed = 0;
  for (;;) {
    const batch = await database.transaction(async (tx) =>
      (await lockSeals(tx.sql)) ? sealNext(tx.sql, { upTo, limit: BATCH, now: clock.now() }) : 0,
    );
    sealed += batch;
    if (batch < BATCH) return sealed;
  }
}

/** To be called around the removal of records from before that time, which then is no fault of the chain. */
export async function whileRemoving(
  { sql }: Pick<Database, 'sql'>,
  before: Date | undefined,
  remove: () => Promise<void>,
): Promise<void> {
  if (before) await noteRemoval(sql, before);
  await remove();
  await removeSeals(sql);
}
