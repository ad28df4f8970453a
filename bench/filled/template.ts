import { BOOT_VOLUME } from '../../test/support/boot-volume.ts';
import { finished } from '../operations/finished.ts';
import type { Api } from '../support/api.ts';

/** Placeholder for the number of the copy in every name. */
export const NUMBERED = 'copy-0000000';

/**
 * Makes one thing of each kind that a client may have, and a few changes. Copies of these rows fill the
 * tables.
 */
export async function makeTemplate(api: Api): Promise<void> {
  const make = async (path: string, body: object): Promise<string> => {
    const { ports, ...made } = await finished(api, await api.call('POST', `/cloud/${path}/1/1`, body));
    return (made.instances ?? made.floatingips ?? ports ?? Object.values(made)[0])?.[0] ?? '';
  };
  const name = NUMBERED;
  const tags = { made_by: 'bench', team: name };
  await api.call('POST', '/cloud/v1/ssh_keys/1', { name });
  const rules = [22, 443].map((port) => ({
    direction: 'ingress',
    ethertype: 'IPv4',
    protocol: 'tcp',
    port_range_min: port,
    port_range_max: port,
  }));
  const group = (await api.call('POST', '/cloud/v1/securitygroups/1/1', {
    security_group: { name, tags, security_group_rules: rules },
  })) as { id: string };
  const network_id = await make('v1/networks', { name, create_router: false, tags });
  const cidr = '192.168.10.0/24';
  const router = { connect_to_network_router: false };
  const subnet_id = await make('v1/subnets', { name, network_id, cidr, ...router, tags });

  const volumes: string[] = [];
  for (const source of [
    { ...BOOT_VOLUME, size: 10 },
    { source: 'new-volume', size: 2 },
    { source: 'new-volume', size: 3 },
  ]) {
    volumes.push(await make('v1/volumes', { name, ...source, tags }));
  }
  const [volume_id] = volumes;
  await finished(api, await api.call('POST', `/cloud/v1/volumes/1/1/${volume_id}/extend`, { size: 15 }));
  await make('v1/snapshots', { name, volume_id });
  await make('v1/images', { name, volume_id });
  for (let instance = 0; instance < 2; instance++) {
    const id = await make('v2/instances', {
      name,
      flavor: 'g1-standard-2-4',
      tags,
      interfaces: [{ type: 'subnet', network_id, subnet_id, security_groups: [{ id: group.id }] }],
      volumes: [{ ...BOOT_VOLUME, name, size: 10, type_name: 'standard' }],
    });
    const path = `/cloud/v2/instances/1/1/${id}/action`;
    for (const action of ['stop', 'start']) await finished(api, await api.call('POST', path, { action }));
  }
  await make('v1/reserved_fixed_ips', { type: 'subnet', subnet_id });
  await make('v1/floatingips', { tags });
  await make('v1/file_shares', { name, protocol: 'NFS', size: 10, type_name: 'vast', tags });
  // A cluster's nodes need a way out of their subnet. Copies of one that leads outside would share its address.
  await make('v1/routers', { name, interfaces: [{ subnet_id }] });
  const pool = { name: 'web', flavor_id: 'g1-standard-2-4', min_node_count: 1, boot_volume_size: 50 };
  await make('v1/k8s/clusters', {
    name,
    version: 'v1.32.13',
    keypair: name,
    fixed_network: network_id,
    fixed_subnet: subnet_id,
    pools: [{ ...pool, boot_volume_type: 'standard', servergroup_policy: 'anti-affinity' }],
  });
}
