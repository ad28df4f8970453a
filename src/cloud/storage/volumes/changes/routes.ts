import type { Dialect } from '../../../../http/dialect.ts';
import { goneSignal } from '../../../../http/gone-signal.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { WAIT_TEXT, waitForTask } from '../../../ground/tasks/service.ts';
import { attachmentRoutes } from '../attachments/routes.ts';
import { presentedVolume } from '../presenter.ts';
import { VOLUME } from '../routes.ts';
import { VolumeAnswer, VolumeParams } from '../schema.ts';
import { getVolume } from '../service.ts';
import { AttachVolume, DetachVolume, ExtendVolume, RetypeVolume, UpdateVolume } from './schema.ts';
import {
  attachVolume,
  detachVolume,
  extendVolume,
  retypeVolume,
  revertVolume,
  updateVolume,
} from './service.ts';

const V1 = '/cloud/v1/volumes/:project_id/:region_id/:volume_id';
const V2 = '/cloud/v2/volumes/:project_id/:region_id/:volume_id';
const common = { tags: ['Volumes'], params: VolumeParams };

export function volumeChangeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  attachmentRoutes(app, on);

  app.patch(V1, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'updateVolume',
      summary: 'Update the name or tags of a volume',
      body: UpdateVolume,
      response: { 200: VolumeAnswer },
    },
    handler: async ({ scope, params, body }) => {
      await updateVolume(on, scope, params.volume_id, body);
      return presentedVolume(await getVolume(on, scope, params.volume_id), scope);
    },
  });

  app.post(`${V1}/extend`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'extendVolume',
      summary: 'Extend a volume',
      description:
        "Also works while the volume is attached. Volumes of type ssd_lowlatency can't be extended.",
      body: ExtendVolume,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await extendVolume(on, scope, params.volume_id, body)]),
  });

  app.post(`${V1}/retype`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'retypeVolume',
      summary: 'Change the type of a volume',
      description: `Only to another type, and only for volumes without snapshots. ${WAIT_TEXT}`,
      body: RetypeVolume,
      response: { 200: VolumeAnswer },
    },
    handler: async ({ scope, params, body }, reply) => {
      const { volume_id: id } = params;
      const task = await retypeVolume(on, scope, id, body);
      await waitForTask(on, task, `Volume ${id}`, {
        principal: scope.principal,
        gone: goneSignal(reply),
      });
      return presentedVolume(await getVolume(on, scope, id), scope);
    },
  });

  app.post(`${V1}/revert`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'revertVolume',
      summary: 'Revert a volume to its last snapshot',
      description: 'The volume must be available and have the size of the snapshot.',
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params }) => dialect.tasks([await revertVolume(on, scope, params.volume_id)]),
  });

  app.post(`${V2}/attach`, {
    config: { access: 'operate', versioned: VOLUME },
    schema: {
      ...common,
      operationId: 'attachVolume',
      summary: 'Attach a volume to an instance',
      description: 'The volume must be available. It stays when the instance is deleted.',
      body: AttachVolume,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await attachVolume(on, scope, params.volume_id, body)]),
  });

  app.post(`${V2}/detach`, {
    config: { access: 'operate', versioned: VOLUME },
    schema: {
      ...common,
      operationId: 'detachVolume',
      summary: 'Detach a volume from an instance',
      description: "The boot volume can't be detached.",
      body: DetachVolume,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await detachVolume(on, scope, params.volume_id, body)]),
  });
}
