import { ifFound } from '../../lib/errors.ts';
import type { Scope } from '../projects/service.ts';
import type { NetworkLookup } from './references.ts';

/** The part of the networks' service that this needs. Both throw NotFoundError. */
interface Networks {
  get(scope: Scope, id: string): Promise<{ external: boolean }>;
  getSubnet(
    scope: Scope,
    id: string,
  ): Promise<{ network_id: string; cidr: string; gateway_ip: string | null; project_id: number | null }>;
}

/** Networks and subnets that nodes may be in; those of the platform to the outside are not among them. */
export function networkLookup(networks: Networks): NetworkLookup {
  return {
    async hasNetwork(scope, id) {
      const network = await ifFound(networks.get(scope, id));
      return network !== undefined && !network.external;
    },
    async subnet(scope, id) {
      const subnet = await ifFound(networks.getSubnet(scope, id));
      if (!subnet || subnet.project_id === null) return undefined;
      // The platform routes every subnet that has a gateway.
      return {
        networkId: subnet.network_id,
        cidr: subnet.cidr,
        hasRouter: subnet.gateway_ip !== null,
      };
    },
  };
}
