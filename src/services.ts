import { instanceChangeTasks } from './cloud/compute/instances/changes/tasks.ts';
import { interfaceTasks } from './cloud/compute/instances/interfaces/tasks.ts';
import { placementTasks } from './cloud/compute/instances/placement/tasks.ts';
import { instanceTasks } from './cloud/compute/instances/tasks.ts';
import { wireInstances } from './cloud/compute/instances/wire.ts';
import { createPlacementGroups } from './cloud/compute/placement-groups/service.ts';
import { placementGroupTasks } from './cloud/compute/placement-groups/tasks.ts';
import { createSshKeys } from './cloud/compute/ssh-keys/service.ts';
import { createLogging } from './cloud/ground/logging/service.ts';
import { createMetadata } from './cloud/ground/metadata/service.ts';
import { createOfferPrices, createRates } from './cloud/ground/prices/service.ts';
import { createProjects } from './cloud/ground/projects/service.ts';
import { wireQuotas } from './cloud/ground/quotas/wire.ts';
import { withWaitingDeletions } from './cloud/ground/tasks/behind/service.ts';
import { createTaskCancellation } from './cloud/ground/tasks/cancellation/service.ts';
import { createTasks } from './cloud/ground/tasks/service.ts';
import { wireUserActions } from './cloud/ground/user-actions/wire.ts';
import { poolTasks } from './cloud/kubernetes/clusters/pools/tasks.ts';
import { clusterTasks } from './cloud/kubernetes/clusters/tasks.ts';
import { wireClusters } from './cloud/kubernetes/clusters/wire.ts';
import { loadBalancerTasks } from './cloud/load-balancing/load-balancers/tasks.ts';
import { wireLoadBalancers } from './cloud/load-balancing/load-balancers/wire.ts';
import { createStoredSecrets } from './cloud/load-balancing/secrets/service.ts';
import { secretTasks } from './cloud/load-balancing/secrets/tasks.ts';
import { wireCosts } from './cloud/money/costs/wire.ts';
import { createDryRunReports } from './cloud/money/dry-runs/service.ts';
import { wirePricing } from './cloud/money/pricing/wire.ts';
import { createDdosProfiles } from './cloud/network/ddos/service.ts';
import { ddosTasks } from './cloud/network/ddos/tasks.ts';
import { floatingIpTasks } from './cloud/network/floating-ips/tasks.ts';
import { wireFloatingIps } from './cloud/network/floating-ips/wire.ts';
import { createIpRanges } from './cloud/network/ip-ranges/service.ts';
import { createNetworks } from './cloud/network/networks/service.ts';
import { networkTasks } from './cloud/network/networks/tasks.ts';
import { createProjectPorts } from './cloud/network/ports/service.ts';
import { portTasks } from './cloud/network/ports/tasks.ts';
import { createProjectChanges } from './cloud/network/project-changes/service.ts';
import { reservedFixedIpTasks } from './cloud/network/reserved-fixed-ips/tasks.ts';
import { wireReservedFixedIps } from './cloud/network/reserved-fixed-ips/wire.ts';
import { createRouters } from './cloud/network/routers/service.ts';
import { routerTasks } from './cloud/network/routers/tasks.ts';
import { createSecurityGroups } from './cloud/network/security-groups/service.ts';
import { fileShareTasks } from './cloud/storage/file-shares/tasks.ts';
import { wireFileShares } from './cloud/storage/file-shares/wire.ts';
import { createImages } from './cloud/storage/images/service.ts';
import { imageTasks } from './cloud/storage/images/tasks.ts';
import { createSnapshots } from './cloud/storage/snapshots/service.ts';
import { snapshotTasks } from './cloud/storage/snapshots/tasks.ts';
import { volumeTasks } from './cloud/storage/volumes/tasks.ts';
import { wireVolumes } from './cloud/storage/volumes/wire.ts';
import type { TaskEnd } from './convergence/task-kind.ts';
import type { Foundation } from './foundation.ts';
import { createActivityLog } from './iam/activity-log/service.ts';
import { createProductAvailabilities } from './iam/client-services/availability/service.ts';
import { createClientServices } from './iam/client-services/service.ts';
import { createResellers } from './iam/clients/resellers/service.ts';
import { createClients } from './iam/clients/service.ts';
import { createFeatures } from './iam/features/service.ts';
import { wireIdentity } from './iam/identity/wire.ts';
import { createPasswordResets } from './iam/logins/password-resets/service.ts';
import { wireLogins } from './iam/logins/wire.ts';
import { createNotificationSettings } from './iam/notification-settings/service.ts';
import { createTokens } from './iam/tokens/service.ts';
import { wireUsers } from './iam/users/wire.ts';
import { NO_HOSTS } from './lib/allowed-hosts.ts';
import { createMailer } from './mail/mailer.ts';
import { createActionLog } from './requests/action-log.ts';
import { createRefusals } from './requests/refusals.ts';
import { createRequestLog } from './requests/request-log.ts';
import { createAiTasks } from './streaming/ai-tasks/service.ts';
import { createAudit } from './tradewind/audit/service.ts';
import { createDeletionRequests } from './tradewind/deletion-requests/service.ts';
import { createDeletions } from './tradewind/deletions/service.ts';
import { deletionTasks } from './tradewind/deletions/tasks.ts';
import { createEvents } from './tradewind/events/service.ts';
import { createReachabilities } from './tradewind/reachability/service.ts';
import { createStepsOfTasks } from './tradewind/task-steps/service.ts';
import { createWebhooks } from './tradewind/webhooks/service.ts';

/**
 * Builds the use cases of every feature, each after what it needs. A feature with several services has a
 * `wire.ts`, one with a single service its `create...`.
 */
export function createServices(foundation: Foundation) {
  const { catalog, backends } = foundation;
  const kinds = new Map(createTaskEnds(foundation).map((kind) => [kind.type, kind]));
  const cloud = withWaitingDeletions(createCloudServices(foundation), { ...foundation, kinds });
  const account = accountServices(foundation);
  const deletions = createDeletions({ ...foundation, ...cloud, ...account });
  return { catalog, backends, ...cloud, ...account, deletions };
}
export type Services = ReturnType<typeof createServices>;

/** Returns the use cases of what is in projects. */
export function createCloudServices(foundation: Foundation) {
  const tasks = createTasks(foundation);
  const cloud = { ...foundation, tasks };
  const projects = createProjects(cloud);
  const rates = createRates(foundation);
  const kinds = new Map(createTaskEnds(foundation).map((kind) => [kind.type, kind]));
  const networks = createNetworks(cloud);
  const securityGroups = createSecurityGroups(cloud);
  const sshKeys = createSshKeys(foundation);
  const fileShares = wireFileShares(cloud);
  const volumes = wireVolumes(cloud);
  const snapshots = createSnapshots({ ...cloud, ...volumes });
  const images = createImages(cloud);
  const floatingIps = wireFloatingIps(cloud);
  const loadBalancers = wireLoadBalancers({ ...cloud, ...floatingIps });
  const instances = wireInstances({ ...cloud, sshKeys });
  const clusters = wireClusters({
    ...cloud,
    ...fileShares,
    ...instances,
    networks,
    securityGroups,
    sshKeys,
  });
  const holders = {
    fileShare: fileShares.fileShares.tags,
    floatingIp: floatingIps.floatingIpChanges.tags,
    image: images.tags,
    instance: instances.instanceChanges.tags,
    loadBalancer: loadBalancers.loadBalancerChanges.tags,
    network: networks.tags,
    securityGroup: securityGroups.tags,
    subnet: networks.subnetTags,
    volume: volumes.volumeChanges.tags,
  };
  return {
    tasks,
    networks,
    securityGroups,
    sshKeys,
    snapshots,
    images,
    placementGroups: createPlacementGroups(cloud),
    storedSecrets: createStoredSecrets(cloud),
    projects,
    projectChanges: createProjectChanges({ ...cloud, projects }),
    ...fileShares,
    ...volumes,
    ...floatingIps,
    ...loadBalancers,
    ...instances,
    ...clusters,
    ...wireQuotas(foundation),
    ...wireReservedFixedIps(cloud),
    offerPrices: createOfferPrices({ rates }),
    ...wirePricing({ ...foundation, ...volumes, ...clusters, ...loadBalancers, snapshots, rates }),
    ...wireCosts({ ...foundation, rates }),
    routers: createRouters(cloud),
    ipRanges: createIpRanges(foundation),
    dryRuns: createDryRunReports({ ...foundation, rates }),
    ddosProfiles: createDdosProfiles(cloud),
    projectPorts: createProjectPorts({ ...cloud, networks }),
    logging: createLogging(foundation),
    metadata: createMetadata({ ...foundation, holders }),
    taskCancellation: createTaskCancellation({ ...cloud, kinds }),
    taskSteps: createStepsOfTasks(cloud),
    reachabilities: createReachabilities(foundation),
  };
}

function accountServices(foundation: Foundation) {
  const actionLog = createActionLog(foundation);
  const userActions = wireUserActions({ ...foundation, actionLog });
  const mailer = createMailer(foundation);
  const account = { ...foundation, ...wireIdentity(foundation), mailer };
  const features = createFeatures(account);
  const clientServices = createClientServices(account);
  const logins = wireLogins(account);
  const users = wireUsers({ ...account, ...logins });
  const events = createEvents(foundation);
  const refusals = createRefusals({ ...foundation, actionLog });
  return {
    events,
    mailer,
    deletionRequests: createDeletionRequests(account),
    passwordResets: createPasswordResets(account),
    webhooks: createWebhooks({ ...foundation, webhookHosts: foundation.webhookHosts ?? NO_HOSTS }),
    refusals,
    audit: createAudit({ ...foundation, actionLog, refusals }),
    authenticator: account.authenticator,
    features,
    clientServices,
    productAvailabilities: createProductAvailabilities(account),
    logins: logins.logins,
    smtp: foundation.smtp,
    actionLog,
    ...userActions,
    ...users,
    clients: createClients({ ...account, ...users, features, services: clientServices }),
    resellers: createResellers(foundation),
    tokens: createTokens(account),
    activityLog: createActivityLog({ ...foundation, ...userActions }),
    requestLog: createRequestLog({ ...foundation, actionLog, refusals, events }),
    notificationSettings: createNotificationSettings(foundation),
    aiTasks: createAiTasks({ ...foundation, features }),
  };
}

/** Returns how tasks of each kind end. */
export function createTaskEnds(foundation: Pick<Foundation, 'clock' | 'secrets'>): TaskEnd[] {
  return [
    ...volumeTasks(foundation),
    ...snapshotTasks(foundation),
    ...imageTasks(foundation),
    ...instanceTasks(foundation),
    ...instanceChangeTasks(foundation),
    ...interfaceTasks(foundation),
    ...clusterTasks(foundation),
    ...poolTasks(foundation),
    ...networkTasks(foundation),
    ...routerTasks(foundation),
    ...portTasks(foundation),
    ...floatingIpTasks(foundation),
    ...reservedFixedIpTasks(foundation),
    ...fileShareTasks(),
    ...loadBalancerTasks(foundation),
    ...ddosTasks(),
    ...secretTasks(foundation),
    ...placementGroupTasks(),
    ...placementTasks(foundation),
    ...deletionTasks(),
  ];
}
