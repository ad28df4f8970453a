import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Resource, TaskIds } from '../shapes.ts';
import { refusal, type Walk } from '../walk.ts';

export function describeRepeats({ client, impatient, place }: Walk): void {
  describe('repeated calls', () => {
    it('carries a POST with an Idempotency-Key out once', async () => {
      const VOLUMES = place('/cloud/v1/volumes');
      const body = { source: 'new-volume', name: 'walk once', size: 1 };
      const key = { 'idempotency-key': randomUUID() };
      const send = () => client.post<TaskIds>(VOLUMES, body, key);
      // Two at once: whichever comes second is told to come again, which the client does by itself.
      const [one, two] = await Promise.all([send(), send()]);
      expect(two).toEqual(one);
      expect(await send()).toEqual(one);
      await client.poll(one);
      expect(await client.all<Resource>(VOLUMES, { name_part: 'walk once' })).toHaveLength(1);
      await expect(impatient.post(VOLUMES, { ...body, size: 2 }, key)).rejects.toMatchObject(refusal(422));
    });

    it('carries a POST with none out again', async () => {
      const VOLUMES = place('/cloud/v1/volumes');
      const body = { source: 'new-volume', name: 'walk twice', size: 1 };
      for (const _ of [1, 2]) await client.createAndPoll(VOLUMES, body, { of: 'volumes' });
      expect(await client.all<Resource>(VOLUMES, { name_part: 'walk twice' })).toHaveLength(2);
    });
  });
}
