import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { offsetTimestamp } from '../../../lib/time.ts';
import { versioned } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import type { NetworkAnswer } from '../networks/schema.ts';
import { networksWithSubnets } from '../networks/service.ts';
import { presentedPairs } from '../ports/schema.ts';
import * as schema from './schema.ts';
import * as reservedFixedIps from './service.ts';
import type { ReservedRow } from './store.ts';
import type { DeviceRow } from './vip-store.ts';
import { connectPorts, listAvailablePorts, listConnectedPorts, switchVip } from './vips.ts';

export function presentedReservedFixedIp(
  row: ReservedRow,
  network: NetworkAnswer,
  scope: Scope,
): schema.ReservedFixedIpAnswer {
  const v6 = row.addresses.find(({ address }) => address.includes(':'));
  const v4 = row.addresses.find(({ address }) => !address.includes(':'));
  const user = userOf(row);
  const sharing = row.sharing.map((id) => ({ resource_id: id, resource_type: 'instance' as const }));
  const attachments = user ? [user] : sharing;
  return {
    port_id: row.id,
    ...row,
    status: user ? 'ACTIVE' : 'DOWN',
    fixed_ip_address: v4?.address ?? null,
    fixed_ipv6_address: v6?.address ?? null,
    subnet_id: v4?.subnet_id ?? null,
    subnet_v6_id: v6?.subnet_id ?? null,
    is_external: row.external,
    reservation: {
      status: attachments.length > 0 ? 'in-use' : 'available',
      resource_type: user?.resource_type ?? null,
      resource_id: user?.resource_id ?? null,
    },
    attachments,
    network,
    allowed_address_pairs: presentedPairs(row),
    region: scope.region.display_name,
    created_at: offsetTimestamp(row.created_at),
    updated_at: offsetTimestamp(row.updated_at),
  };
}

function userOf({ instance_id, load_balancer_id }: ReservedRow) {
  if (instance_id !== null) return { resource_id: instance_id, resource_type: 'instance' as const };
  if (load_balancer_id === null) return undefined;
  return { resource_id: load_balancer_id, resource_type: 'loadbalancer' as const };
}

const VIP = '/cloud/v1/reserved_fixed_ips/:project_id/:region_id/:port_id';

const LISTS = [
  {
    path: 'connected_devices',
    operationId: 'listVipConnectedDevices',
    summary: 'List the ports connected to a VIP',
    which: listConnectedPorts,
  },
  {
    path: 'available_devices',
    operationId: 'listVipAvailableDevices',
    summary: 'List the ports that can be connected to a VIP',
    which: listAvailablePorts,
  },
] as const;

const CHANGES = [
  {
    method: 'patch',
    operationId: 'addVipConnectedDevices',
    summary: 'Connect ports to a VIP',
    how: 'add',
  },
  {
    method: 'put',
    operationId: 'replaceVipConnectedDevices',
    summary: 'Replace the ports connected to a VIP',
    how: 'replace',
  },
] as const;

export function vipRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Reserved fixed IPs'], params: schema.ReservedFixedIpParams });

  for (const { path, which, operationId, summary } of LISTS) {
    api.get(`${VIP}/${path}`, operationId, summary, {
      description:
        "Lists all ports of instances in the network of the VIP, without paging. Empty if the address isn't a VIP.",
      answer: schema.VipDeviceList,
      handler: async ({ scope, params }) => listed(scope, await which(on, scope, params.port_id)),
    });
  }

  for (const { method, how, operationId, summary } of CHANGES) {
    api[method](`${VIP}/connected_devices`, operationId, summary, {
      description:
        "Takes effect immediately. Adds the address to the allowed address pairs of the ports. Returns 409 if the address isn't a VIP, and if a port belongs to a cluster, has port security disabled, already has the maximum number of pairs, or is held by a task.",
      body: schema.VipPorts,
      answer: schema.VipDeviceList,
      handler: async ({ scope, params, body }) => {
        const { port_id: id } = params;
        if (body.port_ids) await connectPorts(on, scope, id, body.port_ids, how);
        return listed(scope, await listConnectedPorts(on, scope, id));
      },
    });
  }

  async function listed(scope: Scope, rows: DeviceRow[]) {
    const ids = [...new Set(rows.map((row) => row.network_id))];
    const found = (await networksWithSubnets(on, scope, ids)).map(({ network, subnets }) => ({
      network,
      subnets: new Map(subnets.map((subnet) => [subnet.id, subnet])),
    }));
    const byId = new Map(found.map((one) => [one.network.id, one]));
    const results = rows.flatMap(({ network_id, ...row }): schema.VipDevice[] => {
      const of = byId.get(network_id);
      if (!of) return [];
      const ip_assignments = row.ip_assignments.flatMap((one) => {
        const subnet = of.subnets.get(one.subnet_id);
        return subnet ? [{ subnet, ...one }] : [];
      });
      return [{ network: of.network, ...row, ip_assignments }];
    });
    return { count: results.length, results };
  }
}

const BASE = '/cloud/v1/reserved_fixed_ips/:project_id/:region_id';
const RESERVED = versioned('port');
const tags = ['Reserved fixed IPs'];

export function reservedFixedIpRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: schema.ReservedFixedIpParams });

  api.post(BASE, 'createReservedFixedIp', 'Create a reserved fixed IP', {
    description:
      'Reserves a port with its address. Both are kept when the instance or load balancer that uses them is deleted.',
    params: ProjectRegionParams,
    body: schema.CreateReservedFixedIp,
    task: ({ scope, body }) => reservedFixedIps.createReservedFixedIp(on, scope, body),
  });

  api.get(BASE, 'listReservedFixedIps', 'List reserved fixed IPs', {
    params: ProjectRegionParams,
    query: schema.ReservedFixedIpListQuery,
    answer: schema.ReservedFixedIpList,
    handler: async ({ scope, query }) => {
      const { count, rows } = await reservedFixedIps.listReservedFixedIps(on, scope, query);
      return { count, results: await presented(rows, scope) };
    },
  });

  api.get(`${BASE}/:port_id`, 'getReservedFixedIp', 'Get a reserved fixed IP', {
    versioned: RESERVED,
    answer: schema.ReservedFixedIpAnswer,
    handler: async ({ scope, params }) => read(scope, params.port_id),
  });

  api.patch(`${BASE}/:port_id`, 'updateReservedFixedIp', 'Enable or disable VIP for a reserved fixed IP', {
    description:
      'Takes effect immediately. Returns 409 while an instance uses the address or a task holds it, and when turning a VIP off that ports share.',
    body: schema.UpdateReservedFixedIp,
    answer: schema.ReservedFixedIpAnswer,
    handler: async ({ scope, params, body }) => {
      await switchVip(on, scope, params.port_id, body.is_vip);
      return read(scope, params.port_id);
    },
  });

  api.delete(`${BASE}/:port_id`, 'deleteReservedFixedIp', 'Delete a reserved fixed IP', {
    description:
      'Returns 409 while an instance uses it, or a load balancer that was given it. Where the own port of a load balancer was reserved, the load balancer keeps it, and it goes with the load balancer. Ports that share the address are disconnected, and an assigned floating IP is unassigned.',
    task: ({ scope, params }) => deleteOrWait(on, scope, reservedFixedIps.reservedFixedIpDeletion, params.port_id),
  });

  api.post(`${BASE}/:port_id/convert`, 'convertReservedFixedIp', 'Convert a reserved fixed IP to a floating IP', {
    description:
      'The floating IP gets the same address; its new ID is in created_resources. Returns 409 unless the reserved fixed IP is an unused IPv4 address in the external network, and while a task holds it.',
    body: schema.ConvertReservedFixedIp,
    task: ({ scope, params }) => reservedFixedIps.convertReservedFixedIp(on, scope, params.port_id),
  });

  vipRoutes(app, on);

  async function read(scope: Scope, id: string): Promise<schema.ReservedFixedIpAnswer> {
    const [answer] = await presented([await reservedFixedIps.getReservedFixedIp(on, scope, id)], scope);
    if (!answer) throw new TypeError('a port has a network that its project sees');
    return answer;
  }

  async function presented(rows: ReservedRow[], scope: Scope): Promise<schema.ReservedFixedIpAnswer[]> {
    const ids = [...new Set(rows.map((row) => row.network_id))];
    const found = await networksWithSubnets(on, scope, ids);
    const answers = new Map(found.map(({ network }) => [network.id, network]));
    return rows.flatMap((row) => {
      const network = answers.get(row.network_id);
      return network ? [presentedReservedFixedIp(row, network, scope)] : [];
    });
  }
}
