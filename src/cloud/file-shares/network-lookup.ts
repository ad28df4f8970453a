import { ifFound } from '../../lib/errors.ts';
import type { Scope } from '../projects/service.ts';
import type { ShareNetworks } from './service.ts';

interface Subnet {
  id: string;
  name: string;
  network_id: string;
}

/** The part of the networks' service that this needs. `get` and `getSubnet` throw NotFoundError. */
interface Networks {
  get(scope: Scope, id: string): Promise<{ name: string; external: boolean }>;
  getSubnet(scope: Scope, id: string): Promise<Subnet>;
  listSubnets(scope: Scope, filter: typeof OLDEST & { networkId: string }): Promise<{ rows: Subnet[] }>;
}

const OLDEST = {
  ownedBy: 'project' as const,
  tagKeys: [] as string[],
  tags: {},
  order: { column: 'created_at' as const, direction: 'asc' as const },
  limit: 1,
  offset: 0,
};

/** Networks that shares may be reached through; the platform's to the outside is not among them. */
export function shareNetworks(networks: Networks): ShareNetworks {
  return {
    async subnetFor(scope, networkId, subnetId) {
      const network = await ifFound(networks.get(scope, networkId));
      if (!network || network.external) return undefined;
      const subnet =
        subnetId === undefined
          ? (await networks.listSubnets(scope, { ...OLDEST, networkId })).rows[0]
          : await ifFound(networks.getSubnet(scope, subnetId));
      if (subnet?.network_id !== networkId) return undefined;
      return { networkName: network.name, subnetId: subnet.id, subnetName: subnet.name };
    },
  };
}
