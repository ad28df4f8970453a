import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { networksWithSubnets } from '../networks/service.ts';
import { ReservedFixedIpParams } from './schema.ts';
import { type VipDevice, VipDeviceList, VipPorts } from './vip-schema.ts';
import type { DeviceRow } from './vip-store.ts';
import { connectPorts, listAvailablePorts, listConnectedPorts } from './vips.ts';

const VIP = '/cloud/v1/reserved_fixed_ips/:project_id/:region_id/:port_id';
const tags = ['Reserved fixed IPs'];

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
    method: 'PATCH',
    operationId: 'addVipConnectedDevices',
    summary: 'Connect ports to a VIP',
    how: 'add',
  },
  {
    method: 'PUT',
    operationId: 'replaceVipConnectedDevices',
    summary: 'Replace the ports connected to a VIP',
    how: 'replace',
  },
] as const;

export function vipRoutes(app: Api, on: Platform): void {
  for (const { path, which, ...documented } of LISTS) {
    app.get(`${VIP}/${path}`, {
      config: { access: 'read' },
      schema: {
        ...documented,
        description:
          "Lists all ports of instances in the network of the VIP, without paging. Empty if the address isn't a VIP.",
        tags,
        params: ReservedFixedIpParams,
        response: { 200: VipDeviceList },
      },
      handler: async ({ scope, params }) => listed(scope, await which(on, scope, params.port_id)),
    });
  }

  for (const { method, how, ...documented } of CHANGES) {
    app.route({
      method,
      url: `${VIP}/connected_devices`,
      config: { access: 'operate' },
      schema: {
        ...documented,
        description:
          "Takes effect immediately. Adds the address to the allowed address pairs of the ports. Returns 409 if the address isn't a VIP, and if a port belongs to a cluster, has port security disabled, already has the maximum number of pairs, or is held by a task.",
        tags,
        params: ReservedFixedIpParams,
        body: VipPorts,
        response: { 200: VipDeviceList },
      },
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
