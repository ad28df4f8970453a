import { afterAll, beforeAll, expect, it } from 'vitest';
import { CLUSTERS, type ClusterParts, clusterParts, GPU_POOL, makeCluster } from '../../../../test/support/clusters.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const SHARES = '/cloud/v1/file_shares/1/1';

let service: TestService;
let parts: ClusterParts;
beforeAll(async () => {
  service = await borrowService();
  parts = await clusterParts(service);
});
afterAll(() => service?.stop());

async function newShare(): Promise<string> {
  const accepted = await service.http.post(SHARES, {
    name: 'contested',
    protocol: 'NFS',
    size: 10,
    type_name: 'vast',
    share_settings: { root_squash: false, path_length: 'NPL', allowed_characters: 'NPL' },
  });
  expect(accepted.status, accepted.text).toBe(200);
  return (await service.http.task(accepted.body[0])).created_resources.file_shares[0];
}

const slurmOn = (shareId: string) => ({
  slurm: { enabled: true, file_share_id: shareId, ssh_key_ids: [parts.keyId], worker_count: 1 },
});

/** Marks the share as being deleted, in a transaction that has not ended. */
async function halfDeleted(shareId: string): Promise<{ commit(): Promise<void> }> {
  const client = await service.pool.connect();
  await client.query('begin');
  await client.query(`update file_shares set status = 'deleting', task_id = gen_random_uuid() where id = $1`, [
    shareId,
  ]);
  return {
    async commit() {
      await client.query('commit');
      client.release();
    },
  };
}

/** Waits until a request waits for a lock or has been answered. */
async function untilBlocked(answered: Promise<unknown>): Promise<void> {
  let done = false;
  void answered.then(() => {
    done = true;
  });
  await expect
    .poll(async () => {
      const { rows } = await service.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return done || rows.length > 0;
    })
    .toBe(true);
}

it.each(['an update', 'a creation'])('%s takes no share that is on its way out', async (what) => {
  const body = parts.body({ pools: [GPU_POOL] });
  if (what === 'an update') await makeCluster(service.http, body);
  const shareId = await newShare();
  const deletion = await halfDeleted(shareId);
  const change =
    what === 'an update'
      ? service.http.patch(`${CLUSTERS}/${body.name}`, { add_ons: slurmOn(shareId) })
      : service.http.post(CLUSTERS, { ...body, add_ons: slurmOn(shareId) });
  await untilBlocked(change);
  await deletion.commit();
  const { status, body: answer } = await change;
  expect(status).toBe(400);
  expect(answer.invalid_fields['add_ons.slurm.file_share_id']).toEqual([
    `File share ${shareId} is being changed or deleted. Choose another one.`,
  ]);
});
