import type { Database, Transaction } from '../../../../db/database.ts';
import { grouped } from '../../../../lib/lists.ts';
import type { Clock } from '../../../../lib/time.ts';
import type { Mailer, NewMail } from '../../../../mail/mailer.ts';
import { administratorsOf } from '../../../../mail/receivers.ts';
import { shownName } from '../names.ts';
import { lockNew, noteMailed, percentageOf, type Warning } from './store.ts';

const BATCH = 100;

/** Mails the administrators of accounts which quotas are nearly used up. To be called periodically. */
export async function mailWarnings(deps: {
  database: Database;
  clock: Clock;
  mailer: Mailer;
}): Promise<void> {
  const { database, clock, mailer } = deps;
  for (let told = BATCH; told === BATCH; ) {
    told = await database.transaction(async (tx) => {
      const warnings = await lockNew(tx, BATCH);
      await mailer.queue(tx, await mailsOf(tx, warnings));
      await noteMailed(tx, warnings, clock.now());
      return warnings.length;
    });
  }
}

async function mailsOf(tx: Transaction, warnings: readonly Warning[]): Promise<NewMail[]> {
  const administrators = await administratorsOf(
    tx,
    warnings.map(({ client_id }) => client_id),
  );
  const ofClient = grouped(administrators, ({ client_id }) => client_id);
  return warnings.flatMap(({ client_id, region_id, attribute, used, most }) =>
    (ofClient.get(client_id) ?? []).map(
      ({ email: to }): NewMail => ({
        kind: 'quota_nearly_used',
        to,
        clientId: client_id,
        data: {
          quota: shownName(attribute),
          region: String(region_id),
          used: String(used),
          limit: String(most),
          percentage: String(percentageOf(used, most)),
        },
      }),
    ),
  );
}
