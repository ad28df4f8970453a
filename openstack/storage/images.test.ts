import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { Call } from '../../src/backends/contract/backend.ts';
import type { ImageSpec } from '../../src/backends/contract/specs.ts';
import type { Api } from '../cloud/client.ts';
import { CloudError } from '../cloud/errors.ts';
import type { Site } from '../resource.ts';
import { images } from './images.ts';

const ADDRESS = 'https://images.example.com/disk.qcow2?token=sesame';
const SHOWN = 'https://images.example.com/disk.qcow2';

it('an address that Glance refuses is told without what may be secret in it', async () => {
  const message = `URI for web-download does not pass filtering: ${ADDRESS}`;
  const send = async () => {
    throw new CloudError('image', 400, { type: '', message }, undefined);
  };
  const call = { secret: async () => ADDRESS, log: pino({ level: 'silent' }) } as unknown as Call;
  const site = { api: { send } as unknown as Api, call, notes: {} } as unknown as Site<'image'>;
  const live = { id: 'x', name: null, status: 'queued', size: null, tags: [], created_at: '' };
  const change = images.change(site, live, { name: 'disk', sourceUrl: SHOWN } as ImageSpec);
  await expect(change).rejects.toThrow(`Glance refuses it: URI for web-download does not pass filtering: ${SHOWN}`);
  await expect(change).rejects.not.toThrow('sesame');
});
