import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { UuidInput } from '../../../../lib/resource-fields.ts';
import { Input } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { InstanceParams } from '../schema.ts';
import { putIntoPlacementGroup, removeFromPlacementGroup } from './service.ts';

export const PutIntoServerGroup = Input(
  'PutIntoServerGroup',
  { servergroup_id: UuidInput('Placement group to put the instance into') },
  { servergroup_id: '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a' },
);

const INSTANCE = '/cloud/v1/instances/:project_id/:region_id/:instance_id';
const tags = ['Instances'];

export function instancePlacementRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: InstanceParams });

  api.post(`${INSTANCE}/put_into_servergroup`, 'putInstanceIntoServerGroup', 'Put an instance into a placement group', {
    description: 'Returns 409 if it is in one already, and for bare metal machines and nodes of clusters.',
    body: PutIntoServerGroup,
    task: ({ scope, params, body }) => putIntoPlacementGroup(on, scope, params.instance_id, body.servergroup_id),
  });

  api.post(
    `${INSTANCE}/remove_from_servergroup`,
    'removeInstanceFromServerGroup',
    'Remove an instance from its placement group',
    {
      description: 'Returns 409 if it is in none, and for bare metal machines and nodes of clusters.',
      task: ({ scope, params }) => removeFromPlacementGroup(on, scope, params.instance_id),
    },
  );
}
