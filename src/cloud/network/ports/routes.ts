import { Type } from 'typebox';
import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { versionedIn } from '../../../lib/versioned.ts';
import { ProjectRegion, ProjectRegionParams } from '../../../lib/wire.ts';
import { presentedPort } from './presenter.ts';
import {
  AllowAddressPairs,
  PortAnswer,
  PortList,
  PortListQuery,
  PortOfNetworkList,
  PortParams,
  UpdatePort,
} from './schema.ts';
import type { ProjectPorts } from './service.ts';
import { UPDATE_PAIRS, UPDATE_PORT } from './tasks.ts';

const PORTS = '/cloud/v1/ports/:project_id/:region_id';
const PORTS_V2 = '/cloud/v2/ports/:project_id/:region_id';
const PORT = versionedIn('ports', 'port_id');
const tags = ['Ports'];

const NetworkParams = Type.Object({
  ...ProjectRegion,
  network_id: Type.String({ description: 'Network ID' }),
});

export function portRoutes(
  app: Api,
  dialect: Dialect,
  { projectPorts: ports }: { projectPorts: ProjectPorts },
): void {
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
    handler: async ({ scope, query }) => presentedPage(await ports.list(scope, query), presentedPort),
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
    handler: async ({ scope, params }) => presentedPort(await ports.get(scope, params.port_id)),
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
      dialect.tasks([await ports.update(scope, params.port_id, body, UPDATE_PORT)]),
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
      return dialect.tasks([await ports.update(scope, params.port_id, change, UPDATE_PAIRS)]);
    },
  });

  app.get('/cloud/v1/networks/:project_id/:region_id/:network_id/ports', {
    config: { access: 'read' },
    schema: {
      operationId: 'listPortsOfNetwork',
      summary: 'List the ports in a network',
      description:
        "Lists ports of the project's instances. A platform network also has ports of other projects, which are not listed.",
      tags,
      params: NetworkParams,
      response: { 200: PortOfNetworkList },
    },
    handler: async ({ scope, params }) => {
      const results = await ports.ofNetwork(scope, params.network_id);
      return { count: results.length, results };
    },
  });
}
