import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS, type ClusterParts, clusterParts, makeCluster } from '../../../../test/support/clusters.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const KEYS = '/cloud/v1/ssh_keys/1';

let service: TestService;
let parts: ClusterParts;
beforeAll(async () => {
  service = await borrowService();
  parts = await clusterParts(service);
});
afterAll(() => service?.stop());

async function newKey(name: string): Promise<string> {
  const { status, body, text } = await service.http.post(KEYS, { name });
  expect(status, text).toBe(201);
  return body.id;
}

const slurmWith = (...ssh_key_ids: string[]) => ({
  add_ons: { slurm: { enabled: true, file_share_id: parts.shareId, ssh_key_ids, worker_count: 1 } },
});

describe('an SSH key', () => {
  it('that new nodes of a cluster get stays', async () => {
    const id = await newKey('of nodes');
    const body = parts.body({ keypair: 'of nodes' });
    await makeCluster(service.http, body);
    const refused = await service.http.delete(`${KEYS}/${id}`);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toBe(
      `SSH key of nodes is in use by cluster ${body.name}; delete the clusters whose nodes use it first`,
    );
    const deletion = await service.http.delete(`${CLUSTERS}/${body.name}`);
    await service.http.task(deletion.body[0]);
    expect((await service.http.delete(`${KEYS}/${id}`)).status).toBe(204);
  });

  it('that lets people into Slurm stays, from the acceptance of the change on, until it is taken away', async () => {
    const id = await newKey('of slurm');
    const body = parts.body();
    await makeCluster(service.http, body);
    const path = `${CLUSTERS}/${body.name}`;
    const change = await service.http.patch(path, slurmWith(parts.keyId, id.toUpperCase()));
    expect(change.status, change.text).toBe(200);
    expect((await service.http.delete(`${KEYS}/${id}`)).status).toBe(409);
    await service.http.task(change.body[0]);
    const refused = await service.http.delete(`${KEYS}/${id}`);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toBe(
      `SSH key of slurm is in use by Slurm of cluster ${body.name}; choose other keys for Slurm first`,
    );
    const removal = await service.http.patch(path, slurmWith(parts.keyId));
    await service.http.task(removal.body[0]);
    expect((await service.http.delete(`${KEYS}/${id}`)).status).toBe(204);
  });

  it('that is being deleted gets into no cluster', async () => {
    const id = await newKey('going');
    const client = await service.pool.connect();
    await client.query('begin');
    await client.query('delete from ssh_keys where id = $1', [id]);
    const creation = service.http.post(CLUSTERS, parts.body({ keypair: 'going' }));
    await expect
      .poll(async () => {
        const { rows } = await service.pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows.length;
      })
      .toBeGreaterThan(0);
    await client.query('commit');
    client.release();
    const { status, body } = await creation;
    expect(status).toBe(400);
    expect(body.invalid_fields).toEqual({ keypair: ['SSH key going was deleted. Choose another one.'] });
  });

  it('is deleted for one of those who want that', async () => {
    const id = await newKey('wanted by many');
    const answers = await Promise.all(Array.from({ length: 6 }, () => service.http.delete(`${KEYS}/${id}`)));
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(5);
  });
});
