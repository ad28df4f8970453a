import { pino } from 'pino';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Call } from '../../src/backends/contract/backend.ts';
import type { MachineSpec } from '../../src/backends/contract/specs.ts';
import { userDataOf } from './user-data.ts';

const SCRIPT = '#!/bin/sh\necho hello\n';
const SECRETS: Record<string, string> = { password: 'pa55: word', user_data: Buffer.from(SCRIPT).toString('base64') };
const call: Call = {
  signal: new AbortController().signal,
  generation: 1,
  wasThere: false,
  secret: async (name) => SECRETS[name],
  log: pino({ level: 'silent' }),
};
const of = (secrets: MachineSpec['secrets'], username?: string) =>
  userDataOf({ secrets, ...(username !== undefined && { username }) } as MachineSpec, call);
const text = (data: string | undefined) => Buffer.from(data ?? '', 'base64').toString();

it('is what the client gave, or nothing', async () => {
  expect(await of({})).toBeUndefined();
  expect(text(await of({ user_data: true }))).toBe(SCRIPT);
});

it('sets a password', async () => {
  const settings = text(await of({ password: true }, 'ada'));
  expect(settings).toMatch(/^#cloud-config\n/);
  expect(parse(settings)).toEqual({
    user: 'ada',
    password: 'pa55: word',
    chpasswd: { expire: false },
    ssh_pwauth: true,
  });
});

it('does both in parts of one message', async () => {
  const parts = text(await of({ user_data: true, password: true })).split('--==tradewind==');
  expect(parts).toHaveLength(4);
  expect(parts[0]).toMatch(/^Content-Type: multipart\/mixed; boundary="==tradewind=="\n/);
  const bodies = parts.slice(1, 3).map((part) => text(part.split('\n\n')[1]));
  expect(parts[1]).toContain('Content-Type: text/cloud-config\n');
  expect(bodies).toEqual([expect.stringMatching(/^#cloud-config\n/), SCRIPT]);
  expect(parts[3]).toBe('--\n');
});
