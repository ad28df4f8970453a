import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../support/boot-volume.ts';
import { tasksIn } from '../support/possessions.ts';
import { type Stand, startRecorder, throughStand } from './recording.ts';
import { type ServedRegion, serveRegion } from './region.ts';
import type { Rig } from './rig.ts';

/** How long each answer of the slow cloud takes. */
const SLOW_MS = 5_000;
/** A busy machine may take long; nobody waits for it otherwise. */
const WITHIN_MS = 600_000;
const NONE = { instances: 0, volumes: 0, network: 0 };
const ENOUGH = { instances: -1, volumes: -1, network: -1 };

/** Describes what users meet in a region whose cloud is slow, full or half down, and in another region meanwhile. */
export function describeTroubles(rig: () => Rig): void {
  describe('a cloud in trouble', () => {
    let stand: Stand;
    let region: ServedRegion;
    /** Each answer takes this long, and then waits for the gate. */
    let pauseMs = 0;
    let gate = Promise.resolve();

    beforeAll(async () => {
      stand = await startRecorder(async () => {
        await sleep(pauseMs);
        await gate;
      });
      region = await serveRegion(rig(), 'troubles', { through: (clouds) => throughStand(clouds, stand) });
      await finished(await begin('volumes', { ...BOOT_VOLUME, name: 'first', size: 10 }));
    });
    afterAll(async () => {
      await region?.end();
      await stand?.close();
    });

    /** Orders something and returns the ID of its task. */
    async function begin(kind: string, body: object, regionId = 1): Promise<string> {
      const version = kind === 'instances' ? 'v2' : 'v1';
      const answer = await region.http.post(`/cloud/${version}/${kind}/1/${regionId}`, body);
      expect(answer.status, answer.text).toBe(200);
      return tasksIn(answer.body)[0] ?? '';
    }
    const volume = (regionId?: number) => begin('volumes', { name: 'disk', source: 'new-volume', size: 1 }, regionId);
    const network = (regionId?: number) => begin('networks', { name: 'office' }, regionId);
    const finished = async (id: string) => {
      const task = await region.http.task(id, WITHIN_MS);
      expect(task.error).toBeNull();
      return task.created_resources;
    };
    const states = async (ids: readonly string[]): Promise<string[]> =>
      Promise.all(ids.map(async (id) => (await region.http.get(`/cloud/v1/tasks/${id}`)).body.state));
    const failed = async (id: string): Promise<string> => (await region.http.task(id, WITHIN_MS)).error;

    it('is slow: what is ordered takes its time, and another region none of it', async () => {
      let open = () => {};
      gate = new Promise((resolve) => {
        open = resolve;
      });
      pauseMs = SLOW_MS;
      try {
        const here = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? volume() : network())));
        await expect.poll(() => states(here), { timeout: WITHIN_MS, interval: 200 }).toContain('RUNNING');
        for (const make of [volume, network, volume, network]) await finished(await make(2));
        open();
        await Promise.all(here.map(finished));
      } finally {
        open();
        pauseMs = 0;
      }
    });

    it('is full: the task says so, and nothing is left of what was ordered', async () => {
      const { volumes = [] } = await finished(await begin('volumes', { ...BOOT_VOLUME, name: 'boot', size: 10 }));
      const instance = {
        ...{ name: 'late', flavor: 'g1-standard-1-2', interfaces: [{ type: 'external' }] },
        volumes: [{ source: 'existing-volume', volume_id: volumes[0] }],
      };
      const before = (await region.http.get('/cloud/v1/volumes/1/1')).body.count;
      await setQuota(NONE);
      try {
        expect(await failed(await volume())).toMatch(/^volume .*: Cinder refuses it: VolumeLimitExceeded/);
        expect(await failed(await network())).toMatch(/^network .*: Neutron refuses it: Quota exceeded/);
        expect(await failed(await begin('instances', instance))).toMatch(
          /^machine .*: Nova refuses it: Quota exceeded/,
        );
        expect((await region.http.get('/cloud/v1/volumes/1/1')).body.count).toBe(before);
      } finally {
        await setQuota(ENOUGH);
      }
      await finished(await begin('instances', instance));
    });

    it.each([
      { says: 'that is gone', signal: 'SIGKILL', back: 'start' },
      { says: 'that hangs', signal: 'SIGSTOP', back: 'SIGCONT' },
    ] as const)('has a storage service $says: volumes wait for it, and networks do not', async ({ signal, back }) => {
      await rig().kill('cinder-api', signal);
      let waiting: string[];
      try {
        waiting = await Promise.all(Array.from({ length: 40 }, () => volume()));
        for (const regionId of [1, 2, 1, 2]) await finished(await network(regionId));
        expect(await states(waiting)).not.toContain('FINISHED');
      } finally {
        if (back === 'start') await rig().start('cinder-api');
        else await rig().kill('cinder-api', back);
      }
      await Promise.all(waiting.map(finished));
    });

    it('has no storage service while a machine goes: its volume can go later', async () => {
      const { volumes = [] } = await finished(await begin('volumes', { ...BOOT_VOLUME, name: 'boot', size: 10 }));
      const instance = {
        ...{ name: 'short', flavor: 'g1-standard-1-2', interfaces: [{ type: 'external' }] },
        volumes: [{ source: 'existing-volume', volume_id: volumes[0] }],
      };
      const { instances = [] } = await finished(await begin('instances', instance));
      const remove = async (path: string) => tasksIn((await region.http.delete(path)).body)[0] ?? '';
      const servers = () =>
        region.project.api.list('compute', '/servers', Type.Unknown(), { tags: `tradewind-machine-${instances[0]}` });
      await rig().kill('cinder-api');
      let removal: string;
      try {
        removal = await remove(`/cloud/v1/instances/1/1/${instances[0]}`);
        await expect.poll(servers, { timeout: WITHIN_MS, interval: 200 }).toEqual([]);
      } finally {
        await rig().start('cinder-api');
      }
      await finished(removal);
      await finished(await remove(`/cloud/v1/volumes/1/1/${volumes[0]}`));
    });

    /** Sets what the project may have in the cloud; -1 is without a limit. */
    async function setQuota(quota: typeof NONE): Promise<void> {
      const { api, id } = region.project;
      const { instances, volumes, network: networks } = quota;
      await api.send('compute', 'PUT', `/os-quota-sets/${id}`, { quota_set: { instances } });
      await api.send('volume', 'PUT', `/os-quota-sets/${id}`, { quota_set: { volumes } });
      await api.send('network', 'PUT', `/quotas/${id}`, { quota: { network: networks } });
    }
  });
}
