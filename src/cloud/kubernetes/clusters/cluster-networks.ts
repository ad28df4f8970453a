import { ifFound } from '../../../lib/errors.ts';
import type { Platform } from '../../../platform.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { getNetwork, getSubnet } from '../../network/networks/service.ts';

export interface ClusterSubnet {
  networkId: string;
  cidr: string;
  hasRouter: boolean;
}

/** Whether nodes may be in the network. The platform's external networks are not for them. */
export async function hasOwnNetwork(on: Platform, scope: Scope, id: string): Promise<boolean> {
  const network = await ifFound(getNetwork(on, scope, id));
  return network !== undefined && !network.external;
}

/** Returns a subnet that nodes may be in; undefined if there is none in the project and region. */
export async function findClusterSubnet(
  on: Platform,
  scope: Scope,
  id: string,
): Promise<ClusterSubnet | undefined> {
  const subnet = await ifFound(getSubnet(on, scope, id));
  if (!subnet || subnet.project_id === null) return undefined;
  return { networkId: subnet.network_id, cidr: subnet.cidr, hasRouter: subnet.routed };
}
