import type { Dialect } from '../../../../http/dialect.ts';
import { goneSignal } from '../../../../http/gone-signal.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { tagRoutes } from '../../../ground/metadata/routes.ts';
import { WAIT_TEXT, waitForTask } from '../../../ground/tasks/service.ts';
import { presentedVolume } from '../presenter.ts';
import { VOLUME } from '../routes.ts';
import { VolumeAnswer, VolumeParams } from '../schema.ts';
import { getVolume } from '../service.ts';
import { AttachVolume, DetachVolume, ExtendVolume, RetypeVolume, UpdateVolume } from './schema.ts';
import * as changes from './service.ts';

const VOLUME_PATH = '/cloud/v1/volumes/:project_id/:region_id/:volume_id';

/** Attaching and detaching for clients that don't know tasks: the answer comes when the task has ended. */
export function attachmentRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Volumes'], params: VolumeParams, deprecated: true });

  api.post(`${VOLUME_PATH}/attach`, 'attachVolumeNow', 'Attach a volume to an instance and wait for completion', {
    description: WAIT_TEXT,
    answer: VolumeAnswer,
    body: AttachVolume,
    handler: async ({ scope, params, body }, reply) => {
      const { volume_id: id } = params;
      const task = await changes.attachVolume(on, scope, id, body);
      await waitForTask(on, task, `Volume ${id}`, { principal: scope.principal, gone: goneSignal(reply) });
      return presentedVolume(await getVolume(on, scope, id), scope);
    },
  });

  api.post(`${VOLUME_PATH}/detach`, 'detachVolumeNow', 'Detach a volume from an instance and wait for completion', {
    description: WAIT_TEXT,
    answer: VolumeAnswer,
    body: DetachVolume,
    handler: async ({ scope, params, body }, reply) => {
      const { volume_id: id } = params;
      const task = await changes.detachVolume(on, scope, id, body);
      await waitForTask(on, task, `Volume ${id}`, { principal: scope.principal, gone: goneSignal(reply) });
      return presentedVolume(await getVolume(on, scope, id), scope);
    },
  });
}

const V1 = '/cloud/v1/volumes/:project_id/:region_id/:volume_id';
const V2 = '/cloud/v2/volumes/:project_id/:region_id/:volume_id';

export function volumeChangeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  tagRoutes(app, on, 'volume', changes.volumeTags);
  attachmentRoutes(app, on);

  const api = operations(app, { dialect, tags: ['Volumes'], params: VolumeParams });

  api.patch(V1, 'updateVolume', 'Update the name or tags of a volume', {
    body: UpdateVolume,
    answer: VolumeAnswer,
    handler: async ({ scope, params, body }) => {
      await changes.updateVolume(on, scope, params.volume_id, body);
      return presentedVolume(await getVolume(on, scope, params.volume_id), scope);
    },
  });

  api.post(`${V1}/extend`, 'extendVolume', 'Extend a volume', {
    description: "Also works while the volume is attached. Volumes of type ssd_lowlatency can't be extended.",
    body: ExtendVolume,
    task: ({ scope, params, body }) => changes.extendVolume(on, scope, params.volume_id, body),
  });

  api.post(`${V1}/retype`, 'retypeVolume', 'Change the type of a volume', {
    description: `Only to another type, and only for volumes without snapshots. ${WAIT_TEXT}`,
    body: RetypeVolume,
    answer: VolumeAnswer,
    handler: async ({ scope, params, body }, reply) => {
      const { volume_id: id } = params;
      const task = await changes.retypeVolume(on, scope, id, body);
      await waitForTask(on, task, `Volume ${id}`, {
        principal: scope.principal,
        gone: goneSignal(reply),
      });
      return presentedVolume(await getVolume(on, scope, id), scope);
    },
  });

  api.post(`${V1}/revert`, 'revertVolume', 'Revert a volume to its last snapshot', {
    description: 'The volume must be available and have the size of the snapshot.',
    task: ({ scope, params }) => changes.revertVolume(on, scope, params.volume_id),
  });

  api.post(`${V2}/attach`, 'attachVolume', 'Attach a volume to an instance', {
    versioned: VOLUME,
    description: 'The volume must be available. It stays when the instance is deleted.',
    body: AttachVolume,
    task: ({ scope, params, body }) => changes.attachVolume(on, scope, params.volume_id, body),
  });

  api.post(`${V2}/detach`, 'detachVolume', 'Detach a volume from an instance', {
    versioned: VOLUME,
    description: "The boot volume can't be detached.",
    body: DetachVolume,
    task: ({ scope, params, body }) => changes.detachVolume(on, scope, params.volume_id, body),
  });
}
