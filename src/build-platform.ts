import { instanceChangeTasks } from './cloud/compute/instances/changes/tasks.ts';
import { interfaceTasks } from './cloud/compute/instances/interfaces/tasks.ts';
import { placementTasks } from './cloud/compute/instances/placement/tasks.ts';
import { instanceDeletion } from './cloud/compute/instances/service.ts';
import { instanceTasks } from './cloud/compute/instances/tasks.ts';
import { placementGroupDeletion } from './cloud/compute/placement-groups/service.ts';
import { placementGroupTasks } from './cloud/compute/placement-groups/tasks.ts';
import { createRates } from './cloud/ground/prices/rates.ts';
import { cacheProjects } from './cloud/ground/projects/service.ts';
import type { WaitingDeletion } from './cloud/ground/tasks/behind/service.ts';
import { createTaskWaiting } from './cloud/ground/tasks/waiting.ts';
import { clusterPoolDeletion } from './cloud/kubernetes/clusters/pools/service.ts';
import { poolTasks } from './cloud/kubernetes/clusters/pools/tasks.ts';
import { clusterDeletion } from './cloud/kubernetes/clusters/service.ts';
import { clusterTasks } from './cloud/kubernetes/clusters/tasks.ts';
import { l7RuleDeletion } from './cloud/load-balancing/load-balancers/l7policies/l7rules.ts';
import { l7PolicyDeletion } from './cloud/load-balancing/load-balancers/l7policies/service.ts';
import { listenerDeletion } from './cloud/load-balancing/load-balancers/listeners/service.ts';
import { poolMemberDeletion } from './cloud/load-balancing/load-balancers/pools/members.ts';
import { poolDeletion } from './cloud/load-balancing/load-balancers/pools/service.ts';
import { loadBalancerDeletion } from './cloud/load-balancing/load-balancers/service.ts';
import { loadBalancerTasks } from './cloud/load-balancing/load-balancers/tasks.ts';
import { secretDeletion } from './cloud/load-balancing/secrets/service.ts';
import { secretTasks } from './cloud/load-balancing/secrets/tasks.ts';
import { createReportTurns } from './cloud/money/costs/turns.ts';
import { ddosProfileDeletion } from './cloud/network/ddos/service.ts';
import { ddosTasks } from './cloud/network/ddos/tasks.ts';
import { floatingIpDeletion } from './cloud/network/floating-ips/service.ts';
import { floatingIpTasks } from './cloud/network/floating-ips/tasks.ts';
import { networkDeletion } from './cloud/network/networks/changes.ts';
import { subnetDeletion } from './cloud/network/networks/subnets/changes.ts';
import { networkTasks } from './cloud/network/networks/tasks.ts';
import { portTasks } from './cloud/network/ports/tasks.ts';
import { reservedFixedIpDeletion } from './cloud/network/reserved-fixed-ips/service.ts';
import { reservedFixedIpTasks } from './cloud/network/reserved-fixed-ips/tasks.ts';
import { routerDeletion } from './cloud/network/routers/service.ts';
import { routerTasks } from './cloud/network/routers/tasks.ts';
import { fileShareDeletion } from './cloud/storage/file-shares/service.ts';
import { fileShareTasks } from './cloud/storage/file-shares/tasks.ts';
import { imageDeletion } from './cloud/storage/images/service.ts';
import { imageTasks } from './cloud/storage/images/tasks.ts';
import { volumeDeletion } from './cloud/storage/volumes/service.ts';
import { snapshotDeletion } from './cloud/storage/volumes/snapshots/service.ts';
import { snapshotTasks } from './cloud/storage/volumes/snapshots/tasks.ts';
import { volumeTasks } from './cloud/storage/volumes/tasks.ts';
import type { TaskEnd } from './convergence/task-kind.ts';
import { createAuthenticator } from './iam/identity/service.ts';
import { createSignedTokens } from './iam/identity/signed-tokens.ts';
import { createGuesses } from './iam/logins/guesses/service.ts';
import { createPasswordReports } from './iam/logins/password-reports.ts';
import { NO_HOSTS } from './lib/allowed-hosts.ts';
import { createMailer } from './mail/mailer.ts';
import type { Foundation, Platform } from './platform.ts';
import { createActionLog } from './requests/action-log.ts';
import { createRefusals } from './requests/refusals.ts';
import { createRequestLog } from './requests/request-log.ts';
import { createAiTaskCounts } from './streaming/ai-tasks/counts.ts';
import { deletionTasks } from './tradewind/deletions/tasks.ts';
import { createEvents } from './tradewind/events/service.ts';

/** Puts together what a process keeps in memory besides what it was given. */
export function buildPlatform(foundation: Foundation): Platform {
  const { database, changes, webhookHosts = NO_HOSTS } = foundation;
  const actionLog = createActionLog(foundation);
  const refusals = createRefusals({ ...foundation, actionLog });
  const events = createEvents(foundation);
  const signedTokens = createSignedTokens(foundation);
  return {
    ...foundation,
    webhookHosts,
    taskEnds: createTaskEnds(foundation),
    taskWaiting: createTaskWaiting(changes),
    projectRows: cacheProjects(foundation),
    rates: createRates(foundation),
    inTurn: createReportTurns(),
    aiTaskCounts: createAiTaskCounts(database),
    mailer: createMailer(foundation),
    actionLog,
    refusals,
    requestLog: createRequestLog({ ...foundation, actionLog, refusals, events }),
    events,
    signedTokens,
    authenticator: createAuthenticator({ ...foundation, signedTokens }),
    guesses: createGuesses(database),
    passwordReports: createPasswordReports(),
  };
}

/** Returns how tasks of each kind end. */
export function createTaskEnds(
  foundation: Pick<Foundation, 'clock' | 'secrets'>,
): ReadonlyMap<string, TaskEnd> {
  const ends: TaskEnd[] = [
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
  return new Map(ends.map((end) => [end.type, end]));
}

/** The deletions that may wait for what still uses the thing. */
export const WAITING_DELETIONS: readonly WaitingDeletion[] = [
  clusterDeletion,
  clusterPoolDeletion,
  ddosProfileDeletion,
  fileShareDeletion,
  floatingIpDeletion,
  imageDeletion,
  instanceDeletion,
  l7PolicyDeletion,
  l7RuleDeletion,
  listenerDeletion,
  loadBalancerDeletion,
  networkDeletion,
  placementGroupDeletion,
  poolDeletion,
  poolMemberDeletion,
  reservedFixedIpDeletion,
  routerDeletion,
  secretDeletion,
  snapshotDeletion,
  subnetDeletion,
  volumeDeletion,
];
