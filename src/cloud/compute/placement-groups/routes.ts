import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import {
  CreatePlacementGroup,
  PlacementGroupAnswer,
  PlacementGroupList,
  PlacementGroupListQuery,
  PlacementGroupParams,
} from './schema.ts';
import {
  createPlacementGroup,
  getPlacementGroup,
  listPlacementGroups,
  placementGroupDeletion,
} from './service.ts';
import type { GroupRow } from './store.ts';

const BASE = '/cloud/v1/servergroups/:project_id/:region_id';
const tags = ['Placement groups'];

export function placementGroupRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.post(BASE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createPlacementGroup',
      summary: 'Create a placement group',
      tags,
      params: ProjectRegionParams,
      body: CreatePlacementGroup,
      response: { 200: PlacementGroupAnswer },
    },
    handler: async ({ scope, body }) => presented(await createPlacementGroup(on, scope, body), scope),
  });

  app.get(BASE, {
    config: { access: 'read' },
    schema: {
      operationId: 'listPlacementGroups',
      summary: 'List placement groups',
      description: 'Newest first, with the groups of pools of clusters.',
      tags,
      params: ProjectRegionParams,
      querystring: PlacementGroupListQuery,
      response: { 200: PlacementGroupList },
    },
    handler: async ({ scope, query }) =>
      presentedPage(await listPlacementGroups(on, scope, query), (row) => presented(row, scope)),
  });

  app.get(`${BASE}/:servergroup_id`, {
    config: { access: 'read' },
    schema: {
      operationId: 'getPlacementGroup',
      summary: 'Get a placement group',
      tags,
      params: PlacementGroupParams,
      response: { 200: PlacementGroupAnswer },
    },
    handler: async ({ scope, params }) =>
      presented(await getPlacementGroup(on, scope, params.servergroup_id), scope),
  });

  app.delete(`${BASE}/:servergroup_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deletePlacementGroup',
      summary: 'Delete a placement group',
      description:
        'Its instances go on without it. Waits for its instances that are being deleted. Returns 409 while other tasks hold instances in it, and for the group of a pool.',
      tags,
      params: PlacementGroupParams,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, placementGroupDeletion, params.servergroup_id)]),
  });
}

function presented(row: GroupRow, { regionId, region }: Scope): PlacementGroupAnswer {
  return {
    servergroup_id: row.id,
    name: row.name,
    policy: row.policy,
    instances: row.instances.map(({ id, name }) => ({ instance_id: id, instance_name: name })),
    project_id: row.project_id,
    region: region.display_name,
    region_id: regionId,
  };
}
