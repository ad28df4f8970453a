import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { networksWithSubnets } from '../networks/service.ts';
import { ReservedFixedIpParams } from './schema.ts';
import { type VipDevice, VipDeviceList, VipPorts } from './vip-schema.ts';
import type { DeviceRow } from './vip-store.ts';
import { connectPorts, listAvailablePorts, listConnectedPorts } from './vips.ts';

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
  const api = operations(app, { tags: ['Reserved fixed IPs'], params: ReservedFixedIpParams });

  for (const { path, which, operationId, summary } of LISTS) {
    api.get(`${VIP}/${path}`, operationId, summary, {
      description:
        "Lists all ports of instances in the network of the VIP, without paging. Empty if the address isn't a VIP.",
      answer: VipDeviceList,
      handler: async ({ scope, params }) => listed(scope, await which(on, scope, params.port_id)),
    });
  }

  for (const { method, how, operationId, summary } of CHANGES) {
    api[method](`${VIP}/connected_devices`, operationId, summary, {
      description:
        "Takes effect immediately. Adds the address to the allowed address pairs of the ports. Returns 409 if the address isn't a VIP, and if a port belongs to a cluster, has port security disabled, already has the maximum number of pairs, or is held by a task.",
      body: VipPorts,
      answer: VipDeviceList,
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
    const results = rows.flatMap(({ network_id, ...row }): VipDevice[] => {
      const of = byId.get(network_id);
      if (!of) return [];
      const ip_assignments = row.ip_assignments.flatMap((one) => {
        const subnet = of.subnets.get(one.subnet_id);
        return subnet ? [{ ...one, subnet }] : [];
      });
      return [{ ...row, ip_assignments, network: of.network }];
    });
    return { count: results.length, results };
  }
}
