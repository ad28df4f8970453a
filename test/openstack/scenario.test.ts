import path from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { Unavailable } from '../../src/backends/contract/backend.ts';
import { type Exchange, readRecording, type Stand, startDouble } from './recording.ts';
import { openBackend, runScenario } from './scenario.ts';

const recording = readRecording(path.join(import.meta.dirname, 'recordings/zed.jsonl'));
let double: Stand | undefined;
afterEach(() => double?.close());

const clouds = (authUrl: string) =>
  stringify({
    clouds: {
      zed: {
        auth: {
          auth_url: authUrl,
          username: 'admin',
          password: 'openstack',
          project_name: 'recording',
          user_domain_id: 'default',
          project_domain_id: 'default',
        },
        region_name: 'RegionOne',
      },
    },
  });

it('everything is made, changed and removed as a real cloud did it', async () => {
  double = await startDouble(recording.exchanges);
  const keystone = recording.exchanges[0]?.path.replace('/auth/tokens', '') ?? '';
  const backend = openBackend(clouds(`${double.origin}${keystone}`), recording.externalNetworkId);
  const { observed, told } = await runScenario(backend, recording.externalNetworkId, 1);
  expect(observed).toMatchObject({
    image: [{ sizeBytes: expect.any(Number) }, {}, {}],
    machine: [{ power: 'running' }, { power: 'stopped' }, { power: 'running' }],
  });
  expect(told).toEqual(
    expect.arrayContaining(['volume: extending', 'machine: rebooting', 'security_group: changing rules']),
  );
  expect(double.exchanges).toEqual([]);
});

it('a cloud that is away is waited for', async () => {
  double = await startDouble([]);
  const { origin } = double;
  await double.close();
  const backend = openBackend(clouds(`${origin}/v3`), recording.externalNetworkId);
  await expect(runScenario(backend, recording.externalNetworkId, 1)).rejects.toThrow(Unavailable);
  await expect(runScenario(backend, recording.externalNetworkId, 1)).rejects.toThrow(/^Keystone can not be reached: /);
});

it('a cloud that answers with more than was asked for loses nothing', async () => {
  const [first] = recording.exchanges as [Exchange];
  const project = (first.answer as { token: { project: { id: string } } }).token.project.id;
  const foreign = { id: 'theirs', name: 'theirs', description: 'of somebody else', status: 'ACTIVE' };
  const path = (id: string) => `/15004/v2.0/networks?description=tradewind-network-${id}&project_id=${project}`;
  const id = '00000000-0000-4000-8000-000000000001';
  const listed = { method: 'GET', path: path(id), status: 200, answer: { networks: [foreign] } };
  double = await startDouble([first, listed]);
  const backend = openBackend(clouds(`${double.origin}/15000/v3`), recording.externalNetworkId);
  const call = {
    signal: new AbortController().signal,
    generation: 1,
    wasThere: true,
    secret: async () => undefined,
    log: pino({ level: 'silent' }),
  };
  const ref = { kind: 'network', id, regionId: 1, projectId: 1, handle: null } as const;
  expect(await backend.converge(ref, null, call)).toEqual({ state: 'settled', observed: null });
  expect(double.exchanges).toEqual([]);
});
