import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { simulated } from '../../../../../simulation/maker.ts';
import { BOOT_VOLUME } from '../../../../../test/support/boot-volume.ts';
import { catalogOfBackends } from '../../../../../test/support/catalogs.ts';
import { clusterBody } from '../../../../../test/support/possessions.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';
import { Refused, Unavailable } from '../../../../backends/contract/backend.ts';
import type { Makers } from '../../../../backends/maker.ts';

const I = '/cloud/v1/instances/1/1';
/** Region 2 has machines that nobody measures, region 3 such whose figures are what this says. */
const behaviour = {
  load: async (): Promise<never> => Promise.reject(new Unavailable('the meters are away')),
};
const makers: Makers = {
  simulated,
  unmeasured: {
    ...simulated,
    make(given, host) {
      const { loadOf: _, ...backend } = simulated.make(given, host);
      return backend;
    },
  },
  fickle: {
    ...simulated,
    make: (given, host) => ({ ...simulated.make(given, host), loadOf: () => behaviour.load() }),
  },
};
const folder = catalogOfBackends({ 2: 'unmeasured', 3: 'fickle' });

let service: TestService;
let id: string;
beforeAll(async () => {
  service = await startService({ TRADEWIND_CATALOG_DIR: folder }, { makers });
  id = await instance(1);
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const finished = async ({ status, text, body }: { status: number; text: string; body: string[] }) => {
  expect(status, text).toBe(200);
  const task = await service.http.task(String(body[0]));
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task.created_resources;
};

async function instance(region: number): Promise<string> {
  const network = (await service.http.get(`/cloud/v1/networks/1/${region}`)).body.results[0].id;
  const made = await service.http.post(`/cloud/v2/instances/1/${region}`, {
    name: 'measured',
    flavor: (await service.http.get(`/cloud/v1/flavors/1/${region}?disabled=false`)).body.results[0].flavor_id,
    interfaces: [{ type: 'any_subnet', network_id: network }],
    volumes: [BOOT_VOLUME, { source: 'new-volume', size: 2 }],
  });
  const one = (await finished(made)).instances[0];
  await service.pool.query(`update instances set created_at = created_at - interval '2 hours' where id = $1`, [one]);
  return one;
}

const HOUR = { time_unit: 'hour', time_interval: 1 };
const ask = (body: object = HOUR, query = '') => service.http.post(`${I}/${id}/metrics${query}`, body);

describe('metrics', () => {
  it('are one point every fifteen seconds of an hour, oldest first, with all disks', async () => {
    const { status, body, text } = await ask();
    expect(status, text).toBe(200);
    expect([body.count, body.results.length]).toEqual([240, 240]);
    const times = body.results.map(({ time }: { time: string }) => Date.parse(time));
    const steps = times.slice(1).map((time: number, index: number) => time - times[index]);
    expect(new Set(steps)).toEqual(new Set([15_000]));
    expect(times.at(-1)).toBeLessThanOrEqual(Date.now());
    for (const point of body.results) {
      expect(point).toEqual({
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        cpu_util: expect.any(Number),
        memory_util: expect.any(Number),
        network_Bps_ingress: expect.any(Number),
        network_Bps_egress: expect.any(Number),
        network_pps_ingress: expect.any(Number),
        network_pps_egress: expect.any(Number),
        disks: ['vda', 'vdb'].map((disk_name) => ({
          disk_name,
          disk_Bps_read: expect.any(Number),
          disk_Bps_write: expect.any(Number),
          disk_iops_read: expect.any(Number),
          disk_iops_write: expect.any(Number),
        })),
      });
    }
  });

  it('say the same of the same time to whoever asks later', async () => {
    const byTime = (results: { time: string }[]) => new Map(results.map((one) => [one.time, one]));
    const [first, second] = [byTime((await ask()).body.results), byTime((await ask()).body.results)];
    const both = [...first.keys()].filter((time) => second.has(time));
    expect(both.length).toBeGreaterThan(200);
    for (const time of both) expect(second.get(time)).toEqual(first.get(time));
  });

  it('begin with the instance, and come in pages', async () => {
    const { body } = await ask({ time_unit: 'hour', time_interval: 6 });
    // Two hours of twenty seconds each.
    expect(Math.abs(body.count - 360)).toBeLessThanOrEqual(2);
    const page = await ask({ time_unit: 'day', time_interval: 7 }, '?limit=100&offset=4');
    expect(page.body.results).toHaveLength(page.body.count - 4);
    expect(page.body.count).toBeLessThan(15);
  });

  it('are those of nodes as well', async () => {
    const cluster = await clusterBody(service.http);
    await finished(await service.http.post('/cloud/v1/k8s/clusters/1/1', cluster));
    const { results } = (await service.http.get(`/cloud/v1/k8s/clusters/1/1/${cluster.name}/instances`)).body;
    const node = results[0].id;
    await service.pool.query(`update instances set created_at = created_at - interval '2 hours' where id = $1`, [node]);
    const answer = await service.http.post(`${I}/${node}/metrics`, HOUR);
    expect([answer.status, answer.body.count], answer.text).toEqual([200, 240]);
  });

  it.each([
    [{}, 'time_unit'],
    [{ time_unit: 'hour' }, 'time_interval'],
    [{ ...HOUR, time_unit: 'week' }, 'time_unit'],
    [{ ...HOUR, time_interval: 2 }, 'time_interval'],
    [{ ...HOUR, time_interval: 0 }, 'time_interval'],
    [{ ...HOUR, time_interval: '1' }, 'time_interval'],
    [{ ...HOUR, colour: 'red' }, 'colour'],
  ])('are refused for %j', async (body, field) => {
    const { status, body: answer } = await ask(body);
    expect(status).toBe(400);
    expect(Object.keys(answer.invalid_fields)).toContain(field);
  });

  it('are refused to others, and of what is not there', async () => {
    expect((await service.http.post(`${I}/${crypto.randomUUID()}/metrics`, HOUR)).status).toBe(404);
    const other = await service.otherTenant();
    expect((await other.http.post(`${I}/${id}/metrics`, HOUR)).status).toBe(404);
    const theirs = `/cloud/v1/instances/${other.projectId}/1/${id}/metrics`;
    expect((await other.http.post(theirs, HOUR)).status).toBe(404);
    expect((await (await service.withRole('Users')).post(`${I}/${id}/metrics`, HOUR)).status).toBe(200);
    expect((await service.anonymous.post(`${I}/${id}/metrics`, HOUR)).status).toBe(401);
  });

  it('are 400 where nothing is measured', async () => {
    const one = await instance(2);
    const answer = await service.http.post(`/cloud/v1/instances/1/2/${one}/metrics`, HOUR);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining("doesn't measure load")]);
  });

  it('are 503 while the infrastructure is away, and 409 where it refuses', async () => {
    const one = await instance(3);
    const path = `/cloud/v1/instances/1/3/${one}/metrics`;
    const away = await service.http.post(path, HOUR);
    expect([away.status, away.body.message]).toEqual([503, expect.stringContaining('does not answer')]);
    behaviour.load = () => Promise.reject(new Refused('no meter is at this machine'));
    const refused = await service.http.post(path, HOUR);
    expect([refused.status, refused.body.message]).toEqual([409, 'no meter is at this machine']);
  });
});
