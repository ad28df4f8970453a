import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import type { FloatingIps } from '../../floating-ips/service.ts';
import type { Networks } from '../../networks/service.ts';
import { InterfaceList } from '../../ports/interfaces/schema.ts';
import { presentedInterfaces } from '../../ports/interfaces/service.ts';
import { InstanceParams } from '../schema.ts';
import { AttachInterface, DetachInterface, InterfaceListQuery } from './schema.ts';
import type { InstanceInterfaces } from './service.ts';

const INSTANCE = '/cloud/v1/instances/:project_id/:region_id/:instance_id';
const tags = ['Instances'];

export function interfaceRoutes(
  app: Api,
  dialect: Dialect,
  deps: {
    networks: Networks;
    floatingIps: FloatingIps;
    instanceInterfaces: InstanceInterfaces;
  },
): void {
  const { networks, floatingIps, instanceInterfaces } = deps;

  app.get(`${INSTANCE}/interfaces`, {
    config: { access: 'read' },
    schema: {
      operationId: 'listInstanceInterfaces',
      summary: 'List interfaces of an instance',
      description: 'In the order in which the instance has them.',
      tags,
      params: InstanceParams,
      querystring: InterfaceListQuery,
      response: { 200: InterfaceList },
    },
    handler: async ({ scope, params, query }) => {
      const { count, rows } = await instanceInterfaces.list(scope, params.instance_id, query);
      const results = await presentedInterfaces(rows, scope, { networks, floatingIps });
      return { count, results };
    },
  });

  app.post(`${INSTANCE}/attach_interface`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'attachInterface',
      summary: 'Attach an interface to an instance',
      description:
        'Its type may be left out: a port, subnet or network tells it, and with none of them it is external. A DDoS profile is checked and not kept: nothing is filtered.',
      tags,
      params: InstanceParams,
      body: AttachInterface,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await instanceInterfaces.attach(scope, params.instance_id, body)]),
  });

  app.post(`${INSTANCE}/detach_interface`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'detachInterface',
      summary: 'Detach an interface from an instance',
      description:
        'Its port goes, and the addresses of the port are free again; a reserved one stays. A floating IP leads nowhere then.',
      tags,
      params: InstanceParams,
      body: DetachInterface,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await instanceInterfaces.detach(scope, params.instance_id, body)]),
  });
}
