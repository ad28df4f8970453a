import { type RawBuilder, sql } from 'kysely';
import type { Database, Sql, Transaction } from '../../../../db/database.ts';
import { grouped } from '../../../../lib/lists.ts';
import type { Mailer, NewMail } from '../../../../mail/mailer.ts';
import { administratorsOf } from '../../../../mail/receivers.ts';
import { shownName } from '../names.ts';
import { DEFAULT_THRESHOLD, LOWEST_THRESHOLD } from '../schema.ts';

/** A quota that was used up to the threshold. */
export interface Warning {
  client_id: number;
  region_id: number;
  attribute: string;
  used: number;
  most: number;
}

/**
 * Notes that more of a quota is used, if that is a reason to warn the account: once a day for each quota. `use` is a query of what
 * was used `before`, of what is `used` now and of the `most`. Most end at the first condition.
 */
export const noteNearlyUsed = (
  { clientId, regionId, attribute }: { clientId: number; regionId: number; attribute: string },
  use: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`
  insert into quota_warnings (client_id, region_id, attribute, used, most, noted_at)
  select ${clientId}::bigint, ${regionId}::bigint, ${attribute}::text, used, most, tradewind_now()
  from (select used, most, ${percentageIn('before')} as former, ${percentageIn('used')} as percentage
    from (${use}) as use) as use
  where percentage >= ${LOWEST_THRESHOLD}
    and coalesce((select threshold from quota_thresholds where client_id = ${clientId}), ${DEFAULT_THRESHOLD})
      between former + 1 and percentage
  on conflict (client_id, region_id, attribute) do update
  set used = excluded.used, most = excluded.most, noted_at = excluded.noted_at, mailed_at = null
  where quota_warnings.noted_at <= excluded.noted_at - interval '1 day'`;

const percentageIn = (column: string) => sql`case most when 0 then 100 else ${sql.ref(column)} * 100 / most end`;
const percentageOf = (used: number, most: number): number => (most === 0 ? 100 : Math.floor((used * 100) / most));

/** Locks warnings of which nobody was told yet, the first of them. */
export async function lockNew(tx: Transaction, limit: number): Promise<Warning[]> {
  return tx.sql
    .selectFrom('quota_warnings')
    .select(['client_id', 'region_id', 'attribute', 'used', 'most'])
    .where('mailed_at', 'is', null)
    .orderBy('noted_at')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
}

export async function noteMailed(tx: Transaction, warnings: readonly Warning[]): Promise<void> {
  await sql`
    update quota_warnings set mailed_at = ${tx.now}
    from jsonb_to_recordset(${JSON.stringify(warnings)}::jsonb)
      as told (client_id bigint, region_id bigint, attribute text)
    where quota_warnings.client_id = told.client_id and quota_warnings.region_id = told.region_id
      and quota_warnings.attribute = told.attribute`.execute(tx.sql);
}

/** Returns the last warning of an account that was mailed. */
export async function lastWarning(db: Sql, clientId: number): Promise<(Warning & { mailed_at: Date }) | undefined> {
  const row = await db
    .selectFrom('quota_warnings')
    .selectAll()
    .where('client_id', '=', clientId)
    .where('mailed_at', 'is not', null)
    .orderBy('mailed_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.mailed_at ? { ...row, mailed_at: row.mailed_at } : undefined;
}

const BATCH = 100;

/** Mails the administrators of accounts which quotas are nearly used up. To be called periodically. */
export async function mailWarnings({ database, mailer }: { database: Database; mailer: Mailer }): Promise<void> {
  for (let told = BATCH; told === BATCH; ) {
    told = await database.transaction(async (tx) => {
      const warnings = await lockNew(tx, BATCH);
      if (warnings.length === 0) return 0;
      await mailer.queue(tx, await mailsOf(tx, warnings));
      await noteMailed(tx, warnings);
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
