import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { versionedIn } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { networksWithSubnets } from '../networks/service.ts';
import {
  ConvertReservedFixedIp,
  CreateReservedFixedIp,
  ReservedFixedIpListQuery,
  UpdateReservedFixedIp,
} from './input-schema.ts';
import { presentedReservedFixedIp } from './presenter.ts';
import { ReservedFixedIpAnswer, ReservedFixedIpList, ReservedFixedIpParams } from './schema.ts';
import {
  convertReservedFixedIp,
  createReservedFixedIp,
  getReservedFixedIp,
  listReservedFixedIps,
  reservedFixedIpDeletion,
} from './service.ts';
import type { ReservedRow } from './store.ts';
import { vipRoutes } from './vip-routes.ts';
import { switchVip } from './vips.ts';

const BASE = '/cloud/v1/reserved_fixed_ips/:project_id/:region_id';
const RESERVED = versionedIn('ports', 'port_id');
const tags = ['Reserved fixed IPs'];

export function reservedFixedIpRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { tags, params: ReservedFixedIpParams });

  api.post(BASE, 'createReservedFixedIp', 'Create a reserved fixed IP', {
    description:
      'Reserves a port with its address. Both are kept when the instance or load balancer that uses them is deleted.',
    params: ProjectRegionParams,
    body: CreateReservedFixedIp,
    answer: dialect.tasksSchema,
    handler: async ({ scope, body }) => dialect.tasks([await createReservedFixedIp(on, scope, body)]),
  });

  api.get(BASE, 'listReservedFixedIps', 'List reserved fixed IPs', {
    params: ProjectRegionParams,
    query: ReservedFixedIpListQuery,
    answer: ReservedFixedIpList,
    handler: async ({ scope, query }) => {
      const { count, rows } = await listReservedFixedIps(on, scope, query);
      return { count, results: await presented(rows, scope) };
    },
  });

  api.get(`${BASE}/:port_id`, 'getReservedFixedIp', 'Get a reserved fixed IP', {
    versioned: RESERVED,
    answer: ReservedFixedIpAnswer,
    handler: async ({ scope, params }) => read(scope, params.port_id),
  });

  api.patch(`${BASE}/:port_id`, 'updateReservedFixedIp', 'Enable or disable VIP for a reserved fixed IP', {
    description:
      'Takes effect immediately. Returns 409 while an instance uses the address or a task holds it, and when turning a VIP off that ports share.',
    body: UpdateReservedFixedIp,
    answer: ReservedFixedIpAnswer,
    handler: async ({ scope, params, body }) => {
      await switchVip(on, scope, params.port_id, body.is_vip);
      return read(scope, params.port_id);
    },
  });

  api.delete(`${BASE}/:port_id`, 'deleteReservedFixedIp', 'Delete a reserved fixed IP', {
    description:
      'Returns 409 while an instance uses it, or a load balancer that was given it. Where the own port of a load balancer was reserved, the load balancer keeps it, and it goes with the load balancer. Ports that share the address are disconnected, and an assigned floating IP is unassigned.',
    answer: dialect.tasksSchema,
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, reservedFixedIpDeletion, params.port_id)]),
  });

  api.post(
    `${BASE}/:port_id/convert`,
    'convertReservedFixedIp',
    'Convert a reserved fixed IP to a floating IP',
    {
      description:
        'The floating IP gets the same address; its new ID is in created_resources. Returns 409 unless the reserved fixed IP is an unused IPv4 address in the external network, and while a task holds it.',
      body: ConvertReservedFixedIp,
      answer: dialect.tasksSchema,
      handler: async ({ scope, params }) =>
        dialect.tasks([await convertReservedFixedIp(on, scope, params.port_id)]),
    },
  );

  vipRoutes(app, on);

  async function read(scope: Scope, id: string): Promise<ReservedFixedIpAnswer> {
    const [answer] = await presented([await getReservedFixedIp(on, scope, id)], scope);
    if (!answer) throw new TypeError('a port has a network that its project sees');
    return answer;
  }

  async function presented(rows: ReservedRow[], scope: Scope): Promise<ReservedFixedIpAnswer[]> {
    const ids = [...new Set(rows.map((row) => row.network_id))];
    const found = await networksWithSubnets(on, scope, ids);
    const answers = new Map(found.map(({ network }) => [network.id, network]));
    return rows.flatMap((row) => {
      const network = answers.get(row.network_id);
      return network ? [presentedReservedFixedIp(row, network, scope)] : [];
    });
  }
}
