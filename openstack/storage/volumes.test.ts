import { expect, it } from 'vitest';
import { Refused, Unavailable } from '../../src/backends/contract/backend.ts';
import { newSamples } from '../../test/backends/samples.ts';
import type { Api } from '../cloud/client.ts';
import { CloudError } from '../cloud/errors.ts';
import type { Site } from '../resource.ts';
import { volumes } from './volumes.ts';

it.each([
  ['is there', { status: 'active' }, Unavailable],
  ['has been withdrawn', { status: 'deactivated' }, Refused],
  ['is gone', undefined, Refused],
])('Cinder has no access to an image that %s', async (_, image, Expected) => {
  const message = 'Invalid image identifier or unable to access requested image.';
  const refuse = async () => {
    throw new CloudError('volume', 400, { type: '', message }, undefined);
  };
  const api = { send: refuse, find: async () => image } as unknown as Api;
  const names = { of: async () => 'theirs', mappings: { volumeTypes: {} } };
  const { id, spec } = newSamples().volume;
  const site = { api, names, ref: { kind: 'volume', id }, notes: {} } as unknown as Site<'volume'>;
  const created = volumes.create(site, { ...spec, source: { imageId: 'ours' } });
  await expect(created).rejects.toThrow(Expected);
});
