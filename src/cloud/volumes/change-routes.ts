import type { Dialect } from '../../http/dialect.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import type { Api } from '../../http/server.ts';
import { type Projects, scopeOf } from '../projects/service.ts';
import type { Tasks } from '../tasks/service.ts';
import { WAIT_TEXT, waitForTask } from '../tasks/wait-for-task.ts';
import { attachmentRoutes } from './attachment-routes.ts';
import { AttachVolume, DetachVolume, ExtendVolume, RetypeVolume, UpdateVolume } from './change-schema.ts';
import type { VolumeChanges } from './changes.ts';
import { presentedVolume } from './presenter.ts';
import { VolumeAnswer, VolumeParams } from './schema.ts';
import type { Volumes } from './service.ts';

const V1 = '/cloud/v1/volumes/:project_id/:region_id/:volume_id';
const V2 = '/cloud/v2/volumes/:project_id/:region_id/:volume_id';
const common = { tags: ['Volumes'], params: VolumeParams };

export function volumeChangeRoutes(
  app: Api,
  dialect: Dialect,
  deps: {
    projects: Projects;
    volumes: Pick<Volumes, 'get'>;
    volumeChanges: VolumeChanges;
    tasks: Pick<Tasks, 'ended'>;
  },
): void {
  const { projects, volumes, volumeChanges: changes, tasks } = deps;
  attachmentRoutes(app, deps);

  app.patch(V1, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'updateVolume',
      summary: 'Rename or tag a volume',
      body: UpdateVolume,
      response: { 200: VolumeAnswer },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      await changes.update(scope, request.params.volume_id, request.body);
      return presentedVolume(await volumes.get(scope, request.params.volume_id), scope);
    },
  });

  app.post(`${V1}/extend`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'extendVolume',
      summary: 'Make a volume larger',
      description: 'Also while it is attached. Volumes of type ssd_lowlatency keep their size.',
      body: ExtendVolume,
      response: { 200: dialect.tasksSchema },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      return dialect.tasks([await changes.extend(scope, request.params.volume_id, request.body)]);
    },
  });

  app.post(`${V1}/retype`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'retypeVolume',
      summary: 'Change the type of a volume',
      description: `Only of a volume without snapshots. ${WAIT_TEXT}`,
      body: RetypeVolume,
      response: { 200: VolumeAnswer },
    },
    handler: async (request, reply) => {
      const scope = await projects.scope(scopeOf(request));
      const { volume_id: id } = request.params;
      const task = await changes.retype(scope, id, request.body);
      if (task)
        await waitForTask(tasks, task, `Volume ${id}`, {
          principal: scope.principal,
          gone: goneSignal(reply),
        });
      return presentedVolume(await volumes.get(scope, id), scope);
    },
  });

  app.post(`${V1}/revert`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'revertVolume',
      summary: 'Put the last snapshot of a volume back',
      description: 'Only of a volume that is available and has the size that it had then.',
      response: { 200: dialect.tasksSchema },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      return dialect.tasks([await changes.revert(scope, request.params.volume_id)]);
    },
  });

  app.post(`${V2}/attach`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'attachVolume',
      summary: 'Attach a volume to an instance',
      description: 'Only one that is available. It stays when the instance is deleted.',
      body: AttachVolume,
      response: { 200: dialect.tasksSchema },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      return dialect.tasks([await changes.attach(scope, request.params.volume_id, request.body)]);
    },
  });

  app.post(`${V2}/detach`, {
    config: { access: 'operate' },
    schema: {
      ...common,
      operationId: 'detachVolume',
      summary: 'Detach a volume from an instance',
      description: 'Not the one that the instance boots from.',
      body: DetachVolume,
      response: { 200: dialect.tasksSchema },
    },
    handler: async (request) => {
      const scope = await projects.scope(scopeOf(request));
      return dialect.tasks([await changes.detach(scope, request.params.volume_id, request.body)]);
    },
  });
}
