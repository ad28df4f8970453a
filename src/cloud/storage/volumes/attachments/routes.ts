import { goneSignal } from '../../../../http/gone-signal.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { WAIT_TEXT, waitForTask } from '../../../ground/tasks/service.ts';
import { AttachVolume, DetachVolume } from '../changes/schema.ts';
import { attachVolume, detachVolume } from '../changes/service.ts';
import { presentedVolume } from '../presenter.ts';
import { VolumeAnswer, VolumeParams } from '../schema.ts';
import { getVolume } from '../service.ts';

const VOLUME = '/cloud/v1/volumes/:project_id/:region_id/:volume_id';

/** Attaching and detaching for clients that don't know tasks: the answer comes when the task has ended. */
export function attachmentRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Volumes'], params: VolumeParams, deprecated: true });

  api.post(`${VOLUME}/attach`, 'attachVolumeNow', 'Attach a volume to an instance and wait for completion', {
    description: WAIT_TEXT,
    answer: VolumeAnswer,
    body: AttachVolume,
    handler: async ({ scope, params, body }, reply) => {
      const { volume_id: id } = params;
      const task = await attachVolume(on, scope, id, body);
      await waitForTask(on, task, `Volume ${id}`, { principal: scope.principal, gone: goneSignal(reply) });
      return presentedVolume(await getVolume(on, scope, id), scope);
    },
  });

  api.post(
    `${VOLUME}/detach`,
    'detachVolumeNow',
    'Detach a volume from an instance and wait for completion',
    {
      description: WAIT_TEXT,
      answer: VolumeAnswer,
      body: DetachVolume,
      handler: async ({ scope, params, body }, reply) => {
        const { volume_id: id } = params;
        const task = await detachVolume(on, scope, id, body);
        await waitForTask(on, task, `Volume ${id}`, { principal: scope.principal, gone: goneSignal(reply) });
        return presentedVolume(await getVolume(on, scope, id), scope);
      },
    },
  );
}
