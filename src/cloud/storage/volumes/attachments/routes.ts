import { goneSignal } from '../../../../http/gone-signal.ts';
import type { Api } from '../../../../http/server.ts';
import type { Tasks } from '../../../ground/tasks/service.ts';
import { WAIT_TEXT, waitForTask } from '../../../ground/tasks/service.ts';
import { AttachVolume, DetachVolume } from '../changes/schema.ts';
import type { VolumeChanges } from '../changes/service.ts';
import { presentedVolume } from '../presenter.ts';
import { VolumeAnswer, VolumeParams } from '../schema.ts';
import type { Volumes } from '../service.ts';

const VOLUME = '/cloud/v1/volumes/:project_id/:region_id/:volume_id';

/** Attaching and detaching for clients that don't know tasks: the answer comes when the task has ended. */
export function attachmentRoutes(
  app: Api,
  deps: {
    volumes: Pick<Volumes, 'get'>;
    volumeChanges: VolumeChanges;
    tasks: Pick<Tasks, 'ended'>;
  },
): void {
  const { volumes, volumeChanges: changes, tasks } = deps;
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
      const task = await changes.attach(scope, id, body);
      await waitForTask(tasks, task, `Volume ${id}`, { principal: scope.principal, gone: goneSignal(reply) });
      return presentedVolume(await volumes.get(scope, id), scope);
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
      const task = await changes.detach(scope, id, body);
      await waitForTask(tasks, task, `Volume ${id}`, { principal: scope.principal, gone: goneSignal(reply) });
      return presentedVolume(await volumes.get(scope, id), scope);
    },
  });
}
