import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { isoSeconds } from '../../../lib/time.ts';
import { versioned } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import type { PortRow } from './port-rows.ts';
import { AllowAddressPairs, PortAnswer, PortList, PortListQuery, PortParams, UpdatePort } from './schema.ts';
import { getPort, listPorts, updatePort } from './service.ts';
import { UPDATE_PAIRS, UPDATE_PORT } from './tasks.ts';

export function presentedPort(row: PortRow): PortAnswer {
  const changes = row.router_id === null;
  return {
    managed_by: row.pool_id === null && row.router_id === null ? 'user' : 'system',
    ...row,
    capabilities: { allowed_address_pairs: changes, port_security: changes, security_groups: changes },
    created_at: isoSeconds(row.created_at),
    updated_at: isoSeconds(row.updated_at),
  };
}

const PORTS = '/cloud/v1/ports/:project_id/:region_id';
const PORTS_V2 = '/cloud/v2/ports/:project_id/:region_id';
const PORT = versioned('port');
const tags = ['Ports'];

export function portRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: PortParams });

  api.get(PORTS, 'listPorts', 'List ports', {
    description: 'Lists ports of instances, reserved ones, and interfaces of routers.',
    params: ProjectRegionParams,
    query: PortListQuery,
    answer: PortList,
    handler: async ({ scope, query }) => presentedPage(await listPorts(on, scope, query), presentedPort),
  });

  api.get(`${PORTS}/:port_id`, 'getPort', 'Get a port', {
    versioned: PORT,
    answer: PortAnswer,
    handler: async ({ scope, params }) => presentedPort(await getPort(on, scope, params.port_id)),
  });

  api.patch(`${PORTS}/:port_id`, 'updatePort', 'Update a port', {
    description:
      "Omitted fields don't change. Returns 409 while a task holds the port, for ports of nodes and routers, and if an address is already in use.",
    body: UpdatePort,
    task: ({ scope, params, body }) => updatePort(on, scope, params.port_id, body, UPDATE_PORT),
  });

  api.put(
    `${PORTS_V2}/:port_id/allow_address_pairs`,
    'allowAddressPairs',
    'Replace the allowed address pairs of a port',
    {
      versioned: PORT,
      deprecated: true,
      body: AllowAddressPairs,
      task: ({ scope, params, body: { allowed_address_pairs = [] } }) =>
        updatePort(on, scope, params.port_id, { allowed_address_pairs }, UPDATE_PAIRS),
    },
  );
}
