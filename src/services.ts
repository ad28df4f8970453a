import type { Backends } from './backends/backends.ts';
import type { Catalog } from './cloud/catalog/catalog.ts';
import { createClusterCredentials } from './cloud/clusters/credentials/service.ts';
import { createClusterLimits } from './cloud/clusters/limits/service.ts';
import { networkLookup } from './cloud/clusters/network-lookup.ts';
import { createPoolNodes } from './cloud/clusters/nodes/pool-nodes.ts';
import { createClusterNodes } from './cloud/clusters/nodes/service.ts';
import { createClusterPools } from './cloud/clusters/pools/service.ts';
import { poolTasks } from './cloud/clusters/pools/tasks.ts';
import { createClusters } from './cloud/clusters/service.ts';
import { clusterTasks } from './cloud/clusters/tasks.ts';
import { createClusterUpgrades } from './cloud/clusters/upgrades/service.ts';
import { createClusterWants } from './cloud/clusters/wanted.ts';
import { createShareAccess } from './cloud/file-shares/access-rules.ts';
import { createFileShares } from './cloud/file-shares/service.ts';
import { fileShareTasks } from './cloud/file-shares/tasks.ts';
import { createFloatingIpChanges } from './cloud/floating-ips/changes.ts';
import { createFloatingIps } from './cloud/floating-ips/service.ts';
import { floatingIpTasks } from './cloud/floating-ips/tasks.ts';
import { createImages } from './cloud/images/service.ts';
import { imageSources } from './cloud/images/sources.ts';
import { imageTasks } from './cloud/images/tasks.ts';
import { instanceChangeTasks } from './cloud/instances/change-tasks.ts';
import { createInstanceChanges } from './cloud/instances/changes.ts';
import { interfaceTasks } from './cloud/instances/interface-tasks.ts';
import { createInstanceInterfaces } from './cloud/instances/interfaces.ts';
import { createInstanceLimits } from './cloud/instances/limits.ts';
import { createNodes, type Nodes } from './cloud/instances/nodes/service.ts';
import { createInstancesOnPorts } from './cloud/instances/on-ports.ts';
import { createInstances } from './cloud/instances/service.ts';
import { instanceTasks } from './cloud/instances/tasks.ts';
import { createLogging } from './cloud/logging/service.ts';
import { createMetadata } from './cloud/metadata/service.ts';
import { ensureDefaultNetworks } from './cloud/networks/default-networks.ts';
import { createNetworks } from './cloud/networks/service.ts';
import { networkTasks } from './cloud/networks/tasks.ts';
import { createProjectPorts } from './cloud/ports/project-ports.ts';
import { portTasks } from './cloud/ports/tasks.ts';
import { createClusterPrices } from './cloud/pricing/cluster-prices.ts';
import { createPricing } from './cloud/pricing/service.ts';
import { createProjectChanges } from './cloud/projects/changes.ts';
import { createProjects, type Scope } from './cloud/projects/service.ts';
import { createReservedFixedIps } from './cloud/reserved-fixed-ips/service.ts';
import { reservedFixedIpTasks } from './cloud/reserved-fixed-ips/tasks.ts';
import { createVips } from './cloud/reserved-fixed-ips/vips.ts';
import { ensureDefaultSecurityGroups } from './cloud/security-groups/default-group.ts';
import * as portGroups from './cloud/security-groups/port-groups.ts';
import { createSecurityGroups } from './cloud/security-groups/service.ts';
import { createSnapshots } from './cloud/snapshots/service.ts';
import { snapshotTasks } from './cloud/snapshots/tasks.ts';
import { createSshKeys } from './cloud/ssh-keys/service.ts';
import { createTasks } from './cloud/tasks/service.ts';
import { createUserActions } from './cloud/user-actions/service.ts';
import { createSubscriptions } from './cloud/user-actions/subscriptions/service.ts';
import { createVolumeChanges } from './cloud/volumes/changes.ts';
import { createInstanceVolumes } from './cloud/volumes/instance-volumes.ts';
import { createVolumes } from './cloud/volumes/service.ts';
import { volumeTasks } from './cloud/volumes/tasks.ts';
import type { TaskEnd } from './convergence/task-kind.ts';
import { wantAt } from './convergence/wants.ts';
import type { ChangeFeed } from './db/changes.ts';
import type { Database, Transaction } from './db/database.ts';
import { createActivityLog } from './iam/activity-log/service.ts';
import { createClientServices } from './iam/client-services/service.ts';
import { createClientDirectory } from './iam/clients/directory.ts';
import { createClients } from './iam/clients/service.ts';
import { createFeatures } from './iam/features/service.ts';
import { type Authenticator, createAuthenticator } from './iam/identity/authenticate.ts';
import { createSignedTokens } from './iam/identity/signed-tokens.ts';
import { createLoginLimits } from './iam/logins/limits.ts';
import { createPasswordCheck } from './iam/logins/password-check.ts';
import { createLogins } from './iam/logins/service.ts';
import { createNotificationSettings } from './iam/notification-settings/service.ts';
import { createTokens } from './iam/tokens/service.ts';
import { createInvitations } from './iam/users/invitations.ts';
import { createMembers } from './iam/users/members.ts';
import { createUsers } from './iam/users/service.ts';
import { type AllowedHosts, NO_HOSTS } from './lib/allowed-hosts.ts';
import type { Clock } from './lib/clock.ts';
import { createRequestLog } from './requests/request-log.ts';
import type { Secrets } from './secrets/secrets.ts';
import { createAiTasks } from './streaming/ai-tasks/service.ts';

/** What every feature is built on. */
export interface Foundation {
  database: Database;
  changes: ChangeFeed;
  catalog: Catalog;
  clock: Clock;
  /** Which backend has what. */
  backends: Backends;
  secrets: Secrets;
  /** Hosts that user actions may be sent to although they aren't on the public internet. */
  webhookHosts?: AllowedHosts | undefined;
}

/** The use cases of every feature, wired to each other. The only place that knows them all. */
export function createServices(foundation: Foundation) {
  const signedTokens = createSignedTokens(foundation);
  const authenticator: Authenticator = createAuthenticator({ ...foundation, signedTokens });
  const userActions = createUserActions(foundation);
  const { webhookHosts = NO_HOSTS } = foundation;
  const projects = createProjects(foundation);
  const tasks = createTasks(foundation);
  const prepare = (tx: Transaction, clientId: number) =>
    prepareProjectsIn(tx, foundation.catalog, foundation.clock.now(), clientId);
  const securityGroups = createSecurityGroups({ ...foundation, tasks });
  const networks = createNetworks({ ...foundation, tasks });
  const sshKeys = createSshKeys(foundation);
  const fileShares = createFileShares({ ...foundation, tasks });
  const nodes = nodesOn(foundation);
  const poolNodes = createPoolNodes({ ...foundation, nodes });
  const ofClusters = {
    ...foundation,
    tasks,
    poolNodes,
    clusterWants: createClusterWants({ sshKeys, nodes }),
    references: {
      sshKeys,
      fileShares,
      networks: networkLookup(networks),
      securityGroups: {
        known: (scope: Scope, ids: string[]) =>
          foundation.database.transaction((tx) => portGroups.existing(tx, scope, ids)),
      },
    },
  };
  const clusters = createClusters(ofClusters);
  const volumes = createVolumes({ ...foundation, tasks, images: imageSources(foundation) });
  const volumeChanges = createVolumeChanges({ ...foundation, tasks });
  const snapshots = createSnapshots({ ...foundation, tasks, volumes });
  const images = createImages({ ...foundation, tasks });
  const floatingIps = createFloatingIps({ ...foundation, tasks });
  const floatingIpChanges = createFloatingIpChanges({ ...foundation, tasks, find: floatingIps.get });
  const instances = createInstances({
    ...foundation,
    tasks,
    instanceVolumes: instanceVolumesOn(foundation),
    sshKeys,
  });
  const instanceChanges = createInstanceChanges({
    ...foundation,
    tasks,
    instanceVolumes: instanceVolumesOn(foundation),
    find: instances.get,
  });
  const directory = createClientDirectory(foundation);
  const features = createFeatures({ ...foundation, clients: directory });
  const limits = createLoginLimits(foundation.database);
  const passwords = createPasswordCheck({ ...foundation, limits });
  const account = { ...foundation, authenticator, clients: directory, passwords };
  const members = createMembers(account);
  const users = createUsers({ ...account, limits, members, prepareProjects: prepare });
  const clientServices = createClientServices(account);
  const clients = createClients({
    ...foundation,
    authenticator,
    features,
    services: clientServices,
    users,
    directory,
    prepareProjects: prepare,
  });
  return {
    authenticator,
    requestLog: createRequestLog({ ...foundation, userActions }),
    userActions,
    subscriptions: createSubscriptions({ ...foundation, webhookHosts }),
    catalog: foundation.catalog,
    projects,
    projectChanges: createProjectChanges({ ...foundation, tasks, projects, prepareProjects: prepare }),
    tasks,
    networks,
    projectPorts: createProjectPorts({ ...foundation, tasks, networks }),
    floatingIps,
    floatingIpChanges,
    reservedFixedIps: createReservedFixedIps({ ...foundation, tasks }),
    vips: createVips({ ...foundation, tasks }),
    instances,
    instancesOnPorts: createInstancesOnPorts(foundation),
    instanceChanges,
    instanceInterfaces: createInstanceInterfaces({ ...foundation, tasks, find: instances.get }),
    instanceLimits: createInstanceLimits(foundation),
    volumes,
    volumeChanges,
    snapshots,
    images,
    logging: createLogging(foundation),
    metadata: createMetadata({
      ...foundation,
      holders: {
        fileShare: fileShares.tags,
        floatingIp: floatingIpChanges.tags,
        image: images.tags,
        instance: instanceChanges.tags,
        network: networks.tags,
        securityGroup: securityGroups.tags,
        subnet: networks.subnetTags,
        volume: volumeChanges.tags,
      },
    }),
    securityGroups,
    clusters,
    clusterPools: createClusterPools(ofClusters),
    clusterNodes: createClusterNodes({ ...ofClusters, nodes }),
    clusterUpgrades: createClusterUpgrades(ofClusters),
    clusterCredentials: createClusterCredentials(foundation),
    clusterLimits: createClusterLimits(foundation),
    pricing: createPricing({ ...foundation, snapshots, volumes }),
    clusterPrices: createClusterPrices({ ...foundation, clusters }),
    sshKeys,
    fileShares,
    shareAccess: createShareAccess({ ...foundation, tasks, fileShares }),
    tokens: createTokens({ ...foundation, authenticator, clients: directory }),
    features,
    logins: createLogins({ ...account, signedTokens, limits }),
    users,
    members,
    invitations: createInvitations({ ...account, members }),
    clients,
    clientServices,
    activityLog: createActivityLog({ ...foundation, userActions }),
    notificationSettings: createNotificationSettings(foundation),
    aiTasks: createAiTasks({ ...foundation, features }),
  };
}
export type Services = ReturnType<typeof createServices>;

/** Gives every project what each has from its first moment on. Finds out itself what is missing, so it can run at any time. */
export async function prepareProjects(database: Database, catalog: Catalog, clock: Clock): Promise<void> {
  await database.transaction((tx) => prepareProjectsIn(tx, catalog, clock.now()));
}

/** Of one account, or of all. */
export async function prepareProjectsIn(
  tx: Transaction,
  catalog: Catalog,
  now: Date,
  clientId?: number,
): Promise<void> {
  const regions = [...catalog.regions.values()];
  const networks = await ensureDefaultNetworks(tx, regions, now, clientId);
  const groups = await ensureDefaultSecurityGroups(tx, regions, now, clientId);
  const wanted = [...networks, ...groups];
  // A region that is new to many projects would be too much for one statement.
  for (let from = 0; from < wanted.length; from += 1_000) await wantAt(tx, wanted.slice(from, from + 1_000));
}

function instanceVolumesOn(foundation: Foundation) {
  return createInstanceVolumes({ images: imageSources(foundation) });
}

function nodesOn(foundation: Foundation): Nodes {
  return createNodes({ ...foundation, instanceVolumes: instanceVolumesOn(foundation) });
}

/** How tasks of each kind end. */
export function createTaskEnds(foundation: Foundation): TaskEnd[] {
  const machines = { ...foundation, instanceVolumes: instanceVolumesOn(foundation) };
  const nodes = nodesOn(foundation);
  return [
    ...volumeTasks(foundation),
    ...snapshotTasks(foundation),
    ...imageTasks(foundation),
    ...instanceTasks(machines),
    ...instanceChangeTasks(foundation),
    ...interfaceTasks(foundation),
    ...clusterTasks({ ...foundation, nodes }),
    ...poolTasks({ nodes }),
    ...networkTasks(foundation),
    ...portTasks(foundation),
    ...floatingIpTasks(foundation),
    ...reservedFixedIpTasks(foundation),
    ...fileShareTasks(),
  ];
}
