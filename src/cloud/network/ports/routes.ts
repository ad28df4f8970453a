import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { versionedIn } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { presentedPort } from './presenter.ts';
import { AllowAddressPairs, PortAnswer, PortList, PortListQuery, PortParams, UpdatePort } from './schema.ts';
import { getPort, listPorts, updatePort } from './service.ts';
import { UPDATE_PAIRS, UPDATE_PORT } from './tasks.ts';

const PORTS = '/cloud/v1/ports/:project_id/:region_id';
const PORTS_V2 = '/cloud/v2/ports/:project_id/:region_id';
const PORT = versionedIn('ports', 'port_id');
const tags = ['Ports'];

export function portRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.get(PORTS, {
    config: { access: 'read' },
    schema: {
      operationId: 'listPorts',
      summary: 'List ports',
      description: 'Lists ports of instances, reserved ones, and interfaces of routers.',
      tags,
      params: ProjectRegionParams,
      querystring: PortListQuery,
      response: { 200: PortList },
    },
    handler: async ({ scope, query }) => presentedPage(await listPorts(on, scope, query), presentedPort),
  });

  app.get(`${PORTS}/:port_id`, {
    config: { access: 'read', versioned: PORT },
    schema: {
      operationId: 'getPort',
      summary: 'Get a port',
      tags,
      params: PortParams,
      response: { 200: PortAnswer },
    },
    handler: async ({ scope, params }) => presentedPort(await getPort(on, scope, params.port_id)),
  });

  app.patch(`${PORTS}/:port_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updatePort',
      summary: 'Update a port',
      description:
        "Omitted fields don't change. Returns 409 while a task holds the port, for ports of nodes and routers, and if an address is already in use.",
      tags,
      params: PortParams,
      body: UpdatePort,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await updatePort(on, scope, params.port_id, body, UPDATE_PORT)]),
  });

  app.put(`${PORTS_V2}/:port_id/allow_address_pairs`, {
    config: { access: 'operate', versioned: PORT },
    schema: {
      operationId: 'allowAddressPairs',
      summary: 'Replace the allowed address pairs of a port',
      deprecated: true,
      tags,
      params: PortParams,
      body: AllowAddressPairs,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) => {
      const change = { allowed_address_pairs: body.allowed_address_pairs ?? [] };
      return dialect.tasks([await updatePort(on, scope, params.port_id, change, UPDATE_PAIRS)]);
    },
  });
}
