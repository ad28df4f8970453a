import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import * as schema from './schema.ts';
import { createPlacementGroup, getPlacementGroup, listPlacementGroups, placementGroupDeletion } from './service.ts';
import type { GroupRow } from './store.ts';

const BASE = '/cloud/v1/servergroups/:project_id/:region_id';
const tags = ['Placement groups'];

export function placementGroupRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: ProjectRegionParams });

  api.post(BASE, 'createPlacementGroup', 'Create a placement group', {
    body: schema.CreatePlacementGroup,
    answer: schema.PlacementGroupAnswer,
    handler: async ({ scope, body }) => presented(await createPlacementGroup(on, scope, body), scope),
  });

  api.get(BASE, 'listPlacementGroups', 'List placement groups', {
    description: 'Newest first, with the groups of pools of clusters.',
    query: schema.PlacementGroupListQuery,
    answer: schema.PlacementGroupList,
    handler: async ({ scope, query }) =>
      presentedPage(await listPlacementGroups(on, scope, query), (row) => presented(row, scope)),
  });

  api.get(`${BASE}/:servergroup_id`, 'getPlacementGroup', 'Get a placement group', {
    params: schema.PlacementGroupParams,
    answer: schema.PlacementGroupAnswer,
    handler: async ({ scope, params }) => presented(await getPlacementGroup(on, scope, params.servergroup_id), scope),
  });

  api.delete(`${BASE}/:servergroup_id`, 'deletePlacementGroup', 'Delete a placement group', {
    description:
      'Its instances go on without it. Waits for its instances that are being deleted. Returns 409 while other tasks hold instances in it, and for the group of a pool.',
    params: schema.PlacementGroupParams,
    task: ({ scope, params }) => deleteOrWait(on, scope, placementGroupDeletion, params.servergroup_id),
  });
}

function presented(row: GroupRow, { regionId, region }: Scope): schema.PlacementGroupAnswer {
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
