import type { Foundation } from '../../../foundation.ts';
import { ifFound } from '../../../lib/errors.ts';
import type { Instances } from '../../compute/instances/service.ts';
import type { SshKeys } from '../../compute/ssh-keys/service.ts';
import type { Tasks } from '../../ground/tasks/service.ts';
import type { Networks } from '../../network/networks/service.ts';
import type { SecurityGroups } from '../../network/security-groups/service.ts';
import type { FileShares } from '../../storage/file-shares/service.ts';
import { createClusterCredentials } from './credentials/service.ts';
import { createClusterLimits } from './limits/service.ts';
import { createPoolNodes } from './nodes/pool-nodes.ts';
import { createClusterNodes } from './nodes/service.ts';
import { createClusterPools } from './pools/service.ts';
import type { NetworkLookup } from './references.ts';
import { createClusters } from './service.ts';
import { createClusterUpgrades } from './upgrades/service.ts';

export function wireClusters(
  deps: Foundation & {
    tasks: Tasks;
    fileShares: FileShares;
    instances: Instances;
    networks: Networks;
    securityGroups: SecurityGroups;
    sshKeys: SshKeys;
  },
) {
  const { sshKeys, fileShares, securityGroups } = deps;
  const references = { sshKeys, fileShares, securityGroups, networks: lookup(deps.networks) };
  const needs = { ...deps, references, poolNodes: createPoolNodes(deps) };
  return {
    clusters: createClusters(needs),
    clusterPools: createClusterPools(needs),
    clusterNodes: createClusterNodes(needs),
    clusterUpgrades: createClusterUpgrades(deps),
    clusterCredentials: createClusterCredentials(deps),
    clusterLimits: createClusterLimits(deps),
  };
}

/** Networks and subnets that nodes may be in. The platform's external networks are not among them. */
function lookup(networks: Networks): NetworkLookup {
  return {
    async hasNetwork(scope, id) {
      const network = await ifFound(networks.get(scope, id));
      return network !== undefined && !network.external;
    },
    async subnet(scope, id) {
      const subnet = await ifFound(networks.getSubnet(scope, id));
      if (!subnet || subnet.project_id === null) return undefined;
      return {
        networkId: subnet.network_id,
        cidr: subnet.cidr,
        hasRouter: subnet.routed,
      };
    },
  };
}
