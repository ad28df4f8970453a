import { pino } from 'pino';
import { expect, it } from 'vitest';
import { newSamples } from '../../test/backends/samples.ts';
import type { Api } from '../cloud/client.ts';
import type { Notes, Site } from '../resource.ts';
import { machines } from './machines.ts';

const { spec } = newSamples().machine;

/** Looks once at a machine of which Nova says this task. Returns what Nova was told. */
async function lookAt(task: string, notes: Notes, events: unknown[] = []): Promise<unknown[]> {
  const told: unknown[] = [];
  const api = {
    send: async (_service, _method, _path, body) => told.push(body),
    list: async () => [{ action: 'any', message: null, request_id: 'req-1' }],
    get: async () => ({ instanceAction: { events } }),
  } as Pick<Api, 'get' | 'list' | 'send'> as Api;
  const call = { generation: 1, wasThere: true, log: pino({ level: 'silent' }) };
  const live = { id: 'a', status: 'REBOOT', 'OS-EXT-STS:task_state': task };
  const step = await machines.change({ api, notes, call } as Site<'machine'>, live as never, spec);
  expect(step).toEqual({ doing: task });
  return told;
}

it('a reboot whose order was lost is given again, and nothing else is', async () => {
  const told = 'rebooting';
  expect(await lookAt('rebooting', { told, times: 43 })).toEqual([]);
  expect(await lookAt('rebooting', { told, times: 44 })).toEqual([{ reboot: { type: 'HARD' } }]);
  expect(await lookAt('rebooting', { told, times: 45 })).toEqual([]);
  expect(await lookAt('rebooting', { told: 'powering-off', times: 44 })).toEqual([]);
  expect(await lookAt('reboot_started_hard', { told: 'reboot_started_hard', times: 44 })).toEqual([]);
  expect(await lookAt('resize_prep', { told: 'resize_prep', times: 44 })).toEqual([]);
});

it('an order that the host of a machine has heard of takes as long as it takes', async () => {
  const heard = [{ event: 'compute_stop_instance', finish_time: null }];
  expect(await lookAt('powering-off', { told: 'powering-off', times: 44 }, heard)).toEqual([]);
  expect(await lookAt('suspending', { told: 'suspending', times: 44 }, heard)).toEqual([]);
});

it('a machine whose order to stop was lost becomes one that Nova takes orders for', async () => {
  const reset = { 'os-resetState': { state: 'error' } };
  expect(await lookAt('powering-off', { told: 'powering-off', times: 89 })).toEqual([reset]);
});

it('volumes that a removed machine still seems to have are set free', async () => {
  const sent: string[] = [];
  const attachments = [
    { id: 'one', instance: 'gone' },
    { id: 'two', instance: 'other' },
  ];
  const api = {
    send: async (service, method, path) => sent.push(`${method} ${service} ${path}`),
    list: async () => attachments,
  } as Pick<Api, 'list' | 'send'> as Api;
  const ref = { kind: 'machine', id: 'a' };
  await machines.forget?.({ api, ref } as Site<'machine'>, 'gone');
  expect(sent).toContain('DELETE volume /attachments/one');
  expect(sent).not.toContain('DELETE volume /attachments/two');
});
