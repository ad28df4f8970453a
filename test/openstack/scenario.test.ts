import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { Unavailable } from '../../src/backends/contract/backend.ts';
import { readRecording, type Stand, startDouble } from './recording.ts';
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
