import { Kysely, PostgresDialect, sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeThings } from '../test/acceptance/upgrade/things.ts';
import { startService, type TestService } from '../test/support/service.ts';
import { up } from './0034_adopted_infrastructure.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '1000' });
});
afterAll(() => service.stop());

it('takes nothing over from workers that are running', async () => {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: service.pool }) });
  const upgrade = db.transaction().execute(async (tx) => {
    await sql`create schema dbos`.execute(tx);
    await sql`create view worker_heartbeats as select host, pid, beat_at from workers`.execute(tx);
    await up(tx);
  });
  await expect(upgrade).rejects.toThrow(/workers of the earlier release are running on .*Stop all of its/);
});

it('makes of the rows what the features want of the same things', async () => {
  await makeThings(service.http);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: service.pool }) });
  await db.transaction().execute(async (tx) => {
    const wanted = await kept(tx);
    await sql`truncate wants, want_secrets, simulated_objects`.execute(tx);
    await up(tx);
    const adopted = await kept(tx);
    expect(new Set(wanted.map(({ kind }) => kind)).size).toBe(11);
    expect(adopted).toEqual(wanted);
    await sql`rollback`.execute(tx);
  });
}, 120_000);

async function kept(db: Kysely<unknown>): Promise<{ kind: string }[]> {
  const { rows } = await sql<{ kind: string }>`
    select kind, id, client_id, project_id, region_id, wants.spec, observed, object.spec as there, made,
      settled_generation = generation and due_at is null and worker_id is null as settled,
      array(select distinct unnest(after) order by 1) as after, array(select distinct unnest(uses) order by 1) as uses
    from wants full join simulated_objects as object using (kind, id) order by kind, id`.execute(db);
  return rows;
}
