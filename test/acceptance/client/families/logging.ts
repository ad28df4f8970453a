import { describe, expect, it } from 'vitest';
import type { Walk } from '../client.ts';

export function describeLogging({ client, place }: Walk): void {
  describe('logging', () => {
    const LAAS = place('/cloud/v1/laas');
    const topics = async () => (await client.list<{ name: string }>(`${LAAS}/topics`)).map(({ name }) => name);

    it('finds where logs can go', async () => {
      const regions = await client.list<{ region_id: number }>('/cloud/v1/laas/1/destination_regions');
      expect(regions.map(({ region_id }) => region_id)).toContain(1);
      expect((await client.get<{ hosts: string[] }>('/cloud/v1/laas/1/hosts')).hosts).not.toEqual([]);
      const { hosts } = await client.get<{ hosts: string[] }>('/cloud/v1/laas/1/kafka_hosts');
      expect(hosts).not.toEqual([]);
      expect(await client.get('/cloud/v1/laas/1/opensearch_hosts')).toEqual({ hosts: [] });
    });

    it('asks whether a namespace is available', async () => {
      const asked = await client.get(`${place('/cloud/v1/laas/namespaces')}/walker`);
      expect(asked).toEqual({ namespace: 'walker', available: true });
    });

    it('begins, makes topics and a user, and ends', async () => {
      expect(await client.patch(`${LAAS}/status`, { is_initialized: true, namespace: null })).toMatchObject({
        is_initialized: true,
      });
      const { namespace } = await client.get<{ namespace: string }>(`${LAAS}/status`);
      const topic = { name: 'walk.access', retention_policy: { period: 45 }, index_pattern: null };
      expect(await client.put(`${LAAS}/topics`, topic)).toMatchObject(topic);
      expect(await topics()).toContain('walk.access');
      expect(await client.post(`${LAAS}/users`)).toEqual({
        username: namespace,
        password: expect.any(String),
      });
      for (const name of await topics()) await client.silent('DELETE', `${LAAS}/topics/${name}`);
      expect(await client.patch(`${LAAS}/status`, { is_initialized: false })).toMatchObject({
        is_initialized: false,
      });
    });
  });
}
