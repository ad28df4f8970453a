import { Kysely, PostgresDialect, sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Tables } from '../src/db/tables.ts';
import { createSecrets } from '../src/secrets/secrets.ts';
import { makeThings } from '../test/acceptance/upgrade/things.ts';
import { ENCRYPTION_KEY, keysFrom } from '../test/support/secrets.ts';
import { startService, type TestService } from '../test/support/service.ts';
import { up } from './0034_adopted_infrastructure.ts';
import { up as platformRouted } from './0120_platform_routed.ts';

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
  await routeByPlatform();
  await makeThings(service.http);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: service.pool }) });
  await db.transaction().execute(async (tx) => {
    await asBeforeEncryption(tx);
    const wanted = await kept(tx);
    await sql`truncate wants, want_secrets, simulated_objects`.execute(tx);
    await up(tx);
    await platformRouted(tx);
    const adopted = await kept(tx);
    expect(new Set(wanted.map(({ kind }) => kind)).size).toBe(11);
    expect(adopted).toEqual(wanted);
    await sql`rollback`.execute(tx);
  });
});

/** As all networks of that time were. */
async function routeByPlatform(): Promise<void> {
  await service.pool.query(`
    create function routed_by_platform() returns trigger language plpgsql as
      $$ begin new.platform_routed = true; return new; end $$;
    create trigger routed_by_platform before insert or update on networks
      for each row execute function routed_by_platform()`);
}

it('lets go what tasks held that can not go on, whatever the old engine kept of them', async () => {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: service.pool }) });
  await db.transaction().execute(async (tx) => {
    await sql`truncate wants, want_secrets, simulated_objects`.execute(tx);
    await sql`create view worker_heartbeats as select host, pid, beat_at from workers where false`.execute(tx);
    const kept: Record<string, string | null> = {
      resize_vm: '{"json": [{"input": {"change": {"kind": "wish", "instanceId": "x"}}}]}',
      delete_volume: '{"json": [{"input": {}}]}',
      create_network: '{"json": [{"input": {}}]}',
      delete_image: 'no JSON',
      create_fip: null,
    };
    await sql`
      create schema dbos
      create table workflow_status (workflow_uuid text, inputs text)
      create table workflow_input (workflow_uuid text, inputs text)`.execute(tx);
    for (const [type, inputs] of Object.entries(kept)) {
      await sql`
        with task as (
          insert into tasks (id, task_type, state, client_id, user_id, user_client_id, project_id, region_id, request_id,
            data, created_on, deadline_at)
          values (gen_random_uuid(), ${type}, 'RUNNING', 1, 1, 1, 1, 1, 'none', '{}', now(), now()) returning id)
        insert into dbos.workflow_status select id, ${inputs} from task`.execute(tx);
    }
    const holding = Object.entries({
      volumes: [`status = 'deleting'`, 'delete_volume'],
      snapshots: [`status = 'deleting'`, 'delete_volume'],
      images: [`status = 'pending_delete'`, 'delete_image'],
      networks: ['ready = false', 'create_network'],
      subnets: ['ready = false', 'create_network'],
      instances: [`task_state = 'resizing'`, 'resize_vm'],
      ports: ['name = name', 'resize_vm'],
      floating_ips: ['address = address', 'create_fip'],
      file_shares: [`status = 'extending'`, 'create_fip'],
      kubernetes_clusters: [`status = 'Deleting'`, 'create_fip'],
    });
    for (const [table, [held = '', type]] of holding) {
      await sql`
        update ${sql.table(table)} set ${sql.raw(held)},
          task_id = (select id from tasks where task_type = ${type} and state = 'RUNNING')`.execute(tx);
    }
    await up(tx);
    const { rows: tasks } = await sql<{ state: string; error: string }>`
      select state, error from tasks where request_id = 'none'`.execute(tx);
    expect(tasks).toHaveLength(5);
    for (const { state, error } of tasks) {
      expect({ state, error }).toEqual({ state: 'ERROR', error: expect.stringContaining('was not found') });
    }
    for (const [table, [held = '']] of holding) {
      const { rows } = await sql`
        select from ${sql.table(table)} where task_id is not null
          or (${sql.raw(held)} and ${!/(\w+) = \1/.test(held)})`.execute(tx);
      expect(rows, table).toEqual([]);
    }
    await sql`rollback`.execute(tx);
  });
});

/** The migration runs before secrets are encrypted. */
async function asBeforeEncryption(tx: Kysely<unknown>): Promise<void> {
  const db = tx as Kysely<Tables>;
  const secrets = createSecrets({ sql: db, encryptionKeys: keysFrom(ENCRYPTION_KEY) });
  for (const { kind, id, made } of await db.selectFrom('simulated_objects').selectAll().execute()) {
    const plain = JSON.stringify(await secrets.open('simulated_objects.made', [kind, id], made));
    await sql`update simulated_objects set made = nullif(${plain}::jsonb, 'null') where kind = ${kind} and id = ${id}`.execute(
      db,
    );
  }
  for (const { cluster_id: id, ...row } of await db.selectFrom('kubernetes_credentials').selectAll().execute()) {
    const plain = {
      ca_key: await secrets.open('kubernetes_credentials.ca_key', [id], row.ca_key),
      client_key: await secrets.open('kubernetes_credentials.client_key', [id], row.client_key),
    };
    await db.updateTable('kubernetes_credentials').set(plain).where('cluster_id', '=', id).execute();
  }
}

async function kept(db: Kysely<unknown>): Promise<{ kind: string }[]> {
  const { rows } = await sql<{ kind: string }>`
    select kind, id, client_id, project_id, region_id, wants.spec, observed - 'power' as observed, object.spec as there, made,
      settled_generation = generation and due_at is null and worker_id is null as settled,
      array(select distinct unnest(after) order by 1) as after, array(select distinct unnest(uses) order by 1) as uses
    from wants full join simulated_objects as object using (kind, id) order by kind, id`.execute(db);
  return rows;
}
