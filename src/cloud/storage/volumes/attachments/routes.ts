import { goneSignal } from '../../../../http/gone-signal.ts';
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
  const common = {
    tags: ['Volumes'],
    description: WAIT_TEXT,
    deprecated: true,
    params: VolumeParams,
    response: { 200: VolumeAnswer },
  };

  app.post(`${VOLUME}/attach`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'attachVolumeNow',
      summary: 'Attach a volume to an instance and wait for completion',
      body: AttachVolume,
    },
    handler: async ({ scope, params, body }, reply) => {
      const { volume_id: id } = params;
      const task = await attachVolume(on, scope, id, body);
      await waitForTask(on, task, `Volume ${id}`, { principal: scope.principal, gone: goneSignal(reply) });
      return presentedVolume(await getVolume(on, scope, id), scope);
    },
  });

  app.post(`${VOLUME}/detach`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'detachVolumeNow',
      summary: 'Detach a volume from an instance and wait for completion',
      body: DetachVolume,
    },
    handler: async ({ scope, params, body }, reply) => {
      const { volume_id: id } = params;
      const task = await detachVolume(on, scope, id, body);
      await waitForTask(on, task, `Volume ${id}`, { principal: scope.principal, gone: goneSignal(reply) });
      return presentedVolume(await getVolume(on, scope, id), scope);
    },
  });
}
