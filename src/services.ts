import { createSimulatedClusters } from './backends/simulated/clusters.ts';
import { simulatedFileShares } from './backends/simulated/file-shares.ts';
import { simulatedInstances } from './backends/simulated/instances.ts';
import { simulatedMachineChanges } from './backends/simulated/machine-changes.ts';
import { simulatedNetworks } from './backends/simulated/networks.ts';
import { simulatedSnapshots, simulatedVolumes } from './backends/simulated/volumes.ts';
import type { Catalog } from './cloud/catalog/catalog.ts';
import { createClusterCredentials } from './cloud/clusters/credentials/service.ts';
import { networkLookup } from './cloud/clusters/network-lookup.ts';
import { clustersInNetworks } from './cloud/clusters/network-users.ts';
import { createClusterPools } from './cloud/clusters/pools/service.ts';
import { poolHandlers } from './cloud/clusters/pools/workflow.ts';
import { createClusters } from './cloud/clusters/service.ts';
import { shareUsers } from './cloud/clusters/share-users.ts';
import { createClusterUpgrades } from './cloud/clusters/upgrades/service.ts';
import { upgradeHandlers } from './cloud/clusters/upgrades/workflow.ts';
import { clusterHandlers } from './cloud/clusters/workflow.ts';
import { shareNetworks } from './cloud/file-shares/network-lookup.ts';
import { sharesInNetworks } from './cloud/file-shares/network-users.ts';
import { createFileShares } from './cloud/file-shares/service.ts';
import { fileShareHandlers } from './cloud/file-shares/workflow.ts';
import { instanceChangeHandlers } from './cloud/instances/change-workflow.ts';
import { createInstanceChanges } from './cloud/instances/changes.ts';
import { interfaceHandlers } from './cloud/instances/interface-workflow.ts';
import { createInstanceInterfaces } from './cloud/instances/interfaces.ts';
import { createInstances } from './cloud/instances/service.ts';
import { volumeHosts } from './cloud/instances/volume-hosts.ts';
import { createInstanceHandler, deleteInstanceHandler } from './cloud/instances/workflow.ts';
import { createAddresses } from './cloud/networks/addresses.ts';
import { ensureDefaultNetworks } from './cloud/networks/default-networks.ts';
import { createNetworks } from './cloud/networks/service.ts';
import { subnetHandlers } from './cloud/networks/subnet-workflow.ts';
import { networkHandlers } from './cloud/networks/workflow.ts';
import { createPortInterfaces } from './cloud/ports/interfaces.ts';
import { createProjectPorts } from './cloud/ports/project-ports.ts';
import { createPorts } from './cloud/ports/service.ts';
import { portHandlers } from './cloud/ports/workflow.ts';
import { createPricing } from './cloud/pricing/service.ts';
import { createProjectChanges } from './cloud/projects/changes.ts';
import { createProjects, type Scope } from './cloud/projects/service.ts';
import { deleteProjectHandler } from './cloud/projects/workflow.ts';
import { ensureDefaultSecurityGroups } from './cloud/security-groups/default-group.ts';
import { portGroups } from './cloud/security-groups/port-groups.ts';
import { createSecurityGroups } from './cloud/security-groups/service.ts';
import { securityGroupHandlers } from './cloud/security-groups/workflow.ts';
import { snapshotRows } from './cloud/snapshots/rows.ts';
import { createSnapshots } from './cloud/snapshots/service.ts';
import { createSnapshotHandler, deleteSnapshotHandler } from './cloud/snapshots/workflow.ts';
import { createSshKeys } from './cloud/ssh-keys/service.ts';
import { createTasks } from './cloud/tasks/service.ts';
import { volumeChangeHandlers } from './cloud/volumes/change-workflow.ts';
import { createVolumeChanges } from './cloud/volumes/changes.ts';
import { createInstanceVolumes } from './cloud/volumes/instance-volumes.ts';
import { createVolumes } from './cloud/volumes/service.ts';
import { createVolumeHandler, deleteVolumeHandler } from './cloud/volumes/workflow.ts';
import type { ChangeFeed } from './db/changes.ts';
import type { Database, Transaction } from './db/database.ts';
import { createClientDirectory } from './iam/clients/directory.ts';
import { createClients } from './iam/clients/service.ts';
import { createFeatures } from './iam/features/service.ts';
import { type Authenticator, createAuthenticator } from './iam/identity/authenticate.ts';
import { createNotificationSettings } from './iam/notification-settings/service.ts';
import { createTokens } from './iam/tokens/service.ts';
import type { Clock } from './lib/clock.ts';
import { createAiTasks } from './streaming/ai-tasks/service.ts';
import type { TaskHandler } from './workflows/task-handler.ts';
import type { TaskQueue } from './workflows/task-queue.ts';

/** What every feature is built on. */
export interface Foundation {
  database: Database;
  changes: ChangeFeed;
  catalog: Catalog;
  queue: TaskQueue;
  clock: Clock;
  /** How fast simulated infrastructure works; 1 is the usual speed. */
  simulationSpeed: number;
}

/** The use cases of every feature, wired to each other. The only place that knows them all. */
export function createServices(foundation: Foundation) {
  const authenticator: Authenticator = createAuthenticator(foundation);
  const projects = createProjects(foundation);
  const tasks = createTasks(foundation);
  const prepare = (tx: Transaction) => prepareProjectsIn(tx, foundation.catalog, foundation.clock.now());
  const projectChanges = createProjectChanges({ ...foundation, tasks, projects, prepareProjects: prepare });
  const ports = createPorts(foundation);
  const securityGroups = createSecurityGroups({ ...foundation, tasks, instances: ports });
  const networks = createNetworks({
    ...foundation,
    tasks,
    users: [clustersInNetworks, sharesInNetworks],
  });
  const projectPorts = createProjectPorts({
    ...foundation,
    tasks,
    addresses: createAddresses(),
    portGroups,
    networks,
  });
  const sshKeys = createSshKeys(foundation);
  const fileShares = createFileShares({
    ...foundation,
    tasks,
    networks: shareNetworks(networks),
    users: shareUsers,
  });
  const ofClusters = {
    ...foundation,
    tasks,
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
  const clusterPools = createClusterPools(ofClusters);
  const clusterUpgrades = createClusterUpgrades(ofClusters);
  const clusterCredentials = createClusterCredentials(foundation);
  const volumes = createVolumes({ ...foundation, tasks, snapshots: snapshotRows, hosts: volumeHosts });
  const volumeChanges = createVolumeChanges({
    ...foundation,
    tasks,
    snapshots: snapshotRows,
    hosts: volumeHosts,
  });
  const snapshots = createSnapshots({ ...foundation, tasks, volumes });
  const instances = createInstances({
    ...foundation,
    tasks,
    addresses: createAddresses(),
    ports,
    portGroups,
    instanceVolumes: createInstanceVolumes({ ...foundation, snapshots: snapshotRows }),
    sshKeys,
  });
  const instanceChanges = createInstanceChanges({ ...foundation, tasks, find: instances.get });
  const instanceInterfaces = createInstanceInterfaces({
    ...foundation,
    tasks,
    addresses: createAddresses(),
    interfaces: createPortInterfaces(foundation),
    portGroups,
    find: instances.get,
  });
  const pricing = createPricing({ ...foundation, snapshots, volumes });
  const directory = createClientDirectory(foundation);
  const tokens = createTokens({ ...foundation, authenticator, clients: directory });
  const features = createFeatures({ ...foundation, clients: directory });
  const clients = createClients({
    ...foundation,
    features,
    prepareProjects: prepare,
  });
  const notificationSettings = createNotificationSettings(foundation);
  const aiTasks = createAiTasks({ ...foundation, features });
  return {
    authenticator,
    catalog: foundation.catalog,
    projects,
    projectChanges,
    tasks,
    networks,
    ports,
    projectPorts,
    instances,
    instanceChanges,
    instanceInterfaces,
    volumes,
    volumeChanges,
    snapshots,
    securityGroups,
    clusters,
    clusterPools,
    clusterUpgrades,
    clusterCredentials,
    pricing,
    sshKeys,
    fileShares,
    tokens,
    features,
    clients,
    notificationSettings,
    aiTasks,
  };
}
export type Services = ReturnType<typeof createServices>;

/** Gives every project what each has from its first moment on. Finds out itself what is missing, so it can run at any time. */
export async function prepareProjects(database: Database, catalog: Catalog, clock: Clock): Promise<void> {
  await database.transaction((tx) => prepareProjectsIn(tx, catalog, clock.now()));
}

async function prepareProjectsIn(tx: Transaction, catalog: Catalog, now: Date): Promise<void> {
  const regions = [...catalog.regions.values()];
  await ensureDefaultNetworks(tx, regions, now);
  await ensureDefaultSecurityGroups(tx, regions, now);
}

/** The kinds of long work, for the processes that do it. */
export function createTaskHandlers(foundation: Foundation): TaskHandler[] {
  const simulation = { ...foundation, speed: foundation.simulationSpeed };
  const networking = { ...foundation, backend: simulatedNetworks(foundation.simulationSpeed) };
  const clusters = createSimulatedClusters(simulation);
  const disks = {
    ...foundation,
    volumes: simulatedVolumes(simulation),
    snapshots: simulatedSnapshots(simulation),
  };
  const machines = {
    ...foundation,
    machines: simulatedInstances(simulation),
    addresses: createAddresses(),
    ports: createPorts(foundation),
    instanceVolumes: createInstanceVolumes({ ...foundation, snapshots: snapshotRows }),
  };
  const changing = {
    ...foundation,
    changes: simulatedMachineChanges(foundation.simulationSpeed),
    addresses: createAddresses(),
    interfaces: createPortInterfaces(foundation),
  };
  return [
    createInstanceHandler(machines),
    deleteInstanceHandler(machines),
    ...instanceChangeHandlers(changing),
    ...interfaceHandlers(changing),
    createVolumeHandler({ ...disks, snapshots: snapshotRows }),
    deleteVolumeHandler({ ...disks, snapshots: snapshotRows }),
    ...volumeChangeHandlers({ ...disks, snapshots: snapshotRows }),
    createSnapshotHandler(disks),
    deleteSnapshotHandler(disks),
    ...securityGroupHandlers(),
    deleteProjectHandler(),
    ...clusterHandlers({ backend: clusters, credentials: createClusterCredentials(foundation) }),
    ...poolHandlers({ backend: clusters }),
    ...upgradeHandlers({ backend: clusters }),
    ...networkHandlers(networking),
    ...subnetHandlers(networking),
    ...portHandlers({ ...networking, addresses: createAddresses() }),
    ...fileShareHandlers({ backend: simulatedFileShares(foundation.simulationSpeed) }),
  ];
}
