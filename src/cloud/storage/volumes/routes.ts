import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import { idsOf } from '../../../lib/id-list.ts';
import { presentedPage } from '../../../lib/page.ts';
import { versionedIn } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { presentedVolume } from './presenter.ts';
import {
  CreateVolumeSchema,
  DeleteVolumeQuery,
  VolumeAnswer,
  VolumeList,
  VolumeListQuery,
  VolumeParams,
} from './schema.ts';
import { createVolume, getVolume, listVolumes, volumeDeletion } from './service.ts';

const BASE = '/cloud/v1/volumes/:project_id/:region_id';
const tags = ['Volumes'];
export const VOLUME = versionedIn('volumes', 'volume_id');

export function volumeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.post(BASE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createVolume',
      summary: 'Create a volume',
      description:
        'Creates an empty volume, or one from an image or a snapshot. A volume from a snapshot gets its size.',
      tags,
      params: ProjectRegionParams,
      body: CreateVolumeSchema,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, body }) => dialect.tasks([await createVolume(on, scope, body)]),
  });

  app.get(BASE, {
    config: { access: 'read' },
    schema: {
      operationId: 'listVolumes',
      summary: 'List volumes',
      tags,
      params: ProjectRegionParams,
      querystring: VolumeListQuery,
      response: { 200: VolumeList },
    },
    handler: async ({ scope, query }) =>
      presentedPage(await listVolumes(on, scope, query), (row) => presentedVolume(row, scope)),
  });

  app.get(`${BASE}/:volume_id`, {
    config: { access: 'read', versioned: VOLUME },
    schema: {
      operationId: 'getVolume',
      summary: 'Get a volume',
      tags,
      params: VolumeParams,
      response: { 200: VolumeAnswer },
    },
    handler: async ({ scope, params }) =>
      presentedVolume(await getVolume(on, scope, params.volume_id), scope),
  });

  app.delete(`${BASE}/:volume_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteVolume',
      summary: 'Delete a volume',
      description:
        'The volume must be available. Its snapshots must be listed in the request, or deleted first.',
      tags,
      params: VolumeParams,
      querystring: DeleteVolumeQuery,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, query }) =>
      dialect.tasks([
        await deleteOrWait(on, scope, volumeDeletion, params.volume_id, idsOf(query.snapshots)),
      ]),
  });
}
