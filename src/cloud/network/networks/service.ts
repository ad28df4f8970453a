import type { Database } from '../../../db/database.ts';
import { foundById } from '../../../lib/found.ts';
import type { Page } from '../../../lib/page.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { createNetworkChanges, type NetworkChanges } from './changes.ts';
import { presentedNetwork, presentedSubnet } from './presenter.ts';
import type {
  AvailableNetworkQuery,
  NetworkAnswer,
  NetworkListQuery,
  SubnetAnswer,
  SubnetListQuery,
} from './schema.ts';
import * as store from './store.ts';
import { createSubnetChanges, type SubnetChanges } from './subnets/changes.ts';

export interface Networks extends NetworkChanges, SubnetChanges {
  list(scope: Scope, query: NetworkListQuery): Promise<Page<store.NetworkRow>>;
  /** Lists networks of the project and the platform with their subnets. */
  available(scope: Scope, query: AvailableNetworkQuery): Promise<Page<store.NetworkWithSubnets>>;
  /** Also returns external networks. @throws NotFoundError */
  get(scope: Scope, id: string): Promise<store.NetworkRow>;
  /** Returns the networks with these IDs that the project sees, with complete subnets, for features that show them. */
  withSubnets(scope: Scope, ids: string[]): Promise<{ network: NetworkAnswer; subnets: SubnetAnswer[] }[]>;
  listSubnets(scope: Scope, query: SubnetListQuery): Promise<Page<store.SubnetRow>>;
  /** @throws NotFoundError */
  getSubnet(scope: Scope, id: string): Promise<store.SubnetRow>;
}

export function createNetworks(
  deps: { database: Database } & Parameters<typeof createNetworkChanges>[0],
): Networks {
  const { database } = deps;
  return {
    ...createNetworkChanges(deps),
    ...createSubnetChanges(deps),
    list: (scope, query) => store.listNetworks(database.sql, scope, query),
    available: (scope, query) => store.listWithSubnets(database.sql, scope, query),
    get: (scope, id) => foundById('Network', id, () => store.findNetwork(database.sql, scope, id)),
    async withSubnets(scope, ids) {
      const found = await store.findWithSubnets(database.sql, scope, ids);
      return found.map(({ network, subnets }) => ({
        network: presentedNetwork(network, scope),
        subnets: subnets.map((subnet) => presentedSubnet(subnet, scope)),
      }));
    },
    listSubnets: (scope, query) => store.listSubnets(database.sql, scope, query),
    getSubnet: (scope, id) => foundById('Subnet', id, () => store.findSubnet(database.sql, scope, id)),
  };
}
