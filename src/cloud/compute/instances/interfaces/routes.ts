import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { InterfaceList, presentedInterfaces } from '../../../network/interfaces/service.ts';
import { InstanceParams } from '../schema.ts';
import { AttachInterface, DetachInterface, InterfaceListQuery } from './schema.ts';
import { attachInterface, detachInterface, listInterfaces } from './service.ts';

const INSTANCE = '/cloud/v1/instances/:project_id/:region_id/:instance_id';
const tags = ['Instances'];

export function interfaceRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: InstanceParams });

  api.get(`${INSTANCE}/interfaces`, 'listInstanceInterfaces', 'List the interfaces of an instance', {
    description: 'In the order of the interfaces on the instance.',
    query: InterfaceListQuery,
    answer: InterfaceList,
    handler: async ({ scope, params, query }) => {
      const { count, rows } = await listInterfaces(on, scope, params.instance_id, query);
      const results = await presentedInterfaces(on, rows, scope);
      return { count, results };
    },
  });

  api.post(`${INSTANCE}/attach_interface`, 'attachInterface', 'Attach an interface to an instance', {
    description:
      "If the type is omitted, it follows from the port, subnet or network; without any of them, the interface is external. The instance must be active, paused or stopped. A DDoS profile is validated but not stored: traffic isn't filtered.",
    body: AttachInterface,
    task: ({ scope, params, body }) => attachInterface(on, scope, params.instance_id, body),
  });

  api.post(`${INSTANCE}/detach_interface`, 'detachInterface', 'Detach an interface from an instance', {
    description:
      'Deletes the port and releases its addresses; a reserved fixed IP stays. A floating IP is unassigned. The instance must be active, paused or stopped.',
    body: DetachInterface,
    task: ({ scope, params, body }) => detachInterface(on, scope, params.instance_id, body),
  });
}
