import type { NetworkSpec, SubnetSpec } from '../../../backends/contract/specs.ts';
import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import type { Transaction } from '../../../db/database.ts';
import { type QuotaOwner, releaseQuota, releaseQuotas } from '../../ground/quotas/service.ts';
import { removeRouter, settleRouter } from '../routers/service.ts';
import { changeNetwork, deleteNetwork, type OwnNetwork } from './network-rows.ts';
import { changeSubnet, deleteSubnet, type OwnSubnet } from './subnets/store.ts';

interface NetworkInput extends QuotaOwner {
  networkId: string;
  /** The router that is made with the network, or goes with it. */
  routerId?: string;
}
interface SubnetInput extends QuotaOwner {
  subnetId: string;
}

/** The complete state after the update. */
export interface NetworkUpdate {
  networkId: string;
  name: string;
  tags: Record<string, string>;
}

export const CREATE_NETWORK = taskType<NetworkInput>('create_network');
export const UPDATE_NETWORK = taskType<NetworkUpdate>('update_network');
export const DELETE_NETWORK = taskType<NetworkInput>('delete_network');
export const CREATE_SUBNET = taskType<SubnetInput>('create_subnet');
export const DELETE_SUBNET = taskType<SubnetInput>('delete_subnet');

export function networkTasks(): TaskEnd[] {
  const createNetwork: TaskEnd<NetworkInput> = {
    ...CREATE_NETWORK,
    async complete(tx, _task, { networkId, routerId }) {
      await changeNetwork(tx, networkId, { ready: true, task_id: null });
      if (routerId === undefined) return { networks: [networkId] };
      await settleRouter(tx, routerId);
      return { networks: [networkId], routers: [routerId] };
    },
    abandon: (tx, _task, input) => removeNetwork(tx, input),
  };

  const updateNetwork: TaskEnd<NetworkUpdate> = {
    ...UPDATE_NETWORK,
    async complete(tx, _task, { networkId, name, tags }) {
      await changeNetwork(tx, networkId, { name, tags: JSON.stringify(tags), task_id: null, updated_at: tx.now });
    },
    abandon: (tx, _task, { networkId }) => changeNetwork(tx, networkId, { task_id: null }),
  };

  const deleteOne: TaskEnd<NetworkInput> = {
    ...DELETE_NETWORK,
    removes: true,
    complete: (tx, _task, input) => removeNetwork(tx, input),
  };

  const createSubnet: TaskEnd<SubnetInput> = {
    ...CREATE_SUBNET,
    async complete(tx, _task, { subnetId }) {
      await changeSubnet(tx, subnetId, { ready: true, task_id: null });
      return { subnets: [subnetId] };
    },
    abandon: (tx, _task, input) => removeSubnet(tx, input),
  };

  const deleteOneSubnet: TaskEnd<SubnetInput> = {
    ...DELETE_SUBNET,
    removes: true,
    complete: (tx, _task, input) => removeSubnet(tx, input),
  };

  return [createNetwork, updateNetwork, deleteOne, createSubnet, deleteOneSubnet];
}

/** Releases all quotas at once: in another order than that of a creation, the two could wait for each other. */
async function removeNetwork(tx: Transaction, { networkId, routerId, ...owner }: NetworkInput): Promise<void> {
  const hadRouter = routerId !== undefined && (await removeRouter(tx, routerId));
  const subnets = await deleteNetwork(tx, networkId);
  releaseQuotas(tx, owner, {
    ...(subnets !== undefined && { network_count: 1, subnet_count: subnets }),
    ...(hadRouter && { router_count: 1 }),
  });
}

async function removeSubnet(tx: Transaction, input: SubnetInput): Promise<void> {
  if (await deleteSubnet(tx, input.subnetId)) releaseQuota(tx, input, 'subnet_count');
}

export function networkSpec({
  name,
  type,
  mtu,
  tags,
}: Pick<OwnNetwork, 'name' | 'type' | 'mtu' | 'tags'>): NetworkSpec {
  return { name, type, mtu, metadata: tags };
}

type SubnetParts = Pick<
  OwnSubnet,
  | 'name'
  | 'network_id'
  | 'cidr'
  | 'enable_dhcp'
  | 'gateway_ip'
  | 'dns_nameservers'
  | 'host_routes'
  | 'tags'
  | 'is_default'
>;

export function subnetSpec(subnet: SubnetParts): SubnetSpec {
  return {
    name: subnet.name,
    networkId: subnet.network_id,
    cidr: subnet.cidr,
    dhcp: subnet.enable_dhcp,
    ...(subnet.gateway_ip !== null && { gatewayIp: subnet.gateway_ip }),
    dnsNameservers: subnet.dns_nameservers,
    hostRoutes: subnet.host_routes,
    ...(subnet.is_default && { platformRouted: true }),
    metadata: subnet.tags,
  };
}
