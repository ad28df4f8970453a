import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { directActionRoutes, instanceChangeRoutes } from './cloud/compute/instances/changes/routes.ts';
import { instanceTags } from './cloud/compute/instances/changes/service.ts';
import { interfaceRoutes } from './cloud/compute/instances/interfaces/routes.ts';
import { instanceMetricsRoutes } from './cloud/compute/instances/metrics/routes.ts';
import { instanceOfferRoutes } from './cloud/compute/instances/offers/routes.ts';
import { instancePlacementRoutes } from './cloud/compute/instances/placement/routes.ts';
import { instanceRoutes } from './cloud/compute/instances/routes.ts';
import {
  groupInstanceRoutes,
  instanceGroupRoutes,
} from './cloud/compute/instances/security-groups/routes.ts';
import { placementGroupRoutes } from './cloud/compute/placement-groups/routes.ts';
import { keyPairRoutes, sshKeyRoutes } from './cloud/compute/ssh-keys/routes.ts';
import { catalogRoutes, olderLoggingHostRoutes } from './cloud/ground/catalog/routes.ts';
import { loggingRoutes } from './cloud/ground/logging/routes.ts';
import { metadataRoutes } from './cloud/ground/metadata/routes.ts';
import { flavorRoutes, kubernetesOfferRoutes } from './cloud/ground/prices/flavor-routes.ts';
import { priceListRoutes } from './cloud/ground/prices/lists/routes.ts';
import { findScopes } from './cloud/ground/projects/request-scope.ts';
import { projectRoutes } from './cloud/ground/projects/routes.ts';
import { quotaListRoutes } from './cloud/ground/quotas/lists/routes.ts';
import { limitRequestRoutes } from './cloud/ground/quotas/requests/routes.ts';
import { quotaRoutes } from './cloud/ground/quotas/routes.ts';
import { taskCancellationRoutes } from './cloud/ground/tasks/cancellation/routes.ts';
import { taskRoutes } from './cloud/ground/tasks/routes.ts';
import { requestLogRoutes, userActionRoutes } from './cloud/ground/user-actions/routes.ts';
import {
  amqpSubscriptionRoutes,
  subscriptionRoutes,
} from './cloud/ground/user-actions/subscriptions/routes.ts';
import { nodeRoutes } from './cloud/kubernetes/clusters/nodes/routes.ts';
import { clusterRoutes } from './cloud/kubernetes/clusters/routes.ts';
import { floatingIpListRoutes } from './cloud/load-balancing/floating-ip-list/routes.ts';
import { loadBalancerTags } from './cloud/load-balancing/load-balancers/changes.ts';
import { lbFlavorRoutes } from './cloud/load-balancing/load-balancers/flavors/routes.ts';
import { l7PolicyRoutes } from './cloud/load-balancing/load-balancers/l7policies/routes.ts';
import { listenerRoutes } from './cloud/load-balancing/load-balancers/listeners/routes.ts';
import {
  healthMonitorRoutes,
  lbMemberRoutes,
  lbPoolRoutes,
} from './cloud/load-balancing/load-balancers/pools/routes.ts';
import {
  loadBalancerChangeRoutes,
  loadBalancerRoutes,
} from './cloud/load-balancing/load-balancers/routes.ts';
import { loadBalancerCareRoutes } from './cloud/load-balancing/load-balancers/status/routes.ts';
import { secretRoutes } from './cloud/load-balancing/secrets/routes.ts';
import { costRoutes } from './cloud/money/costs/routes.ts';
import { statementRoutes } from './cloud/money/costs/statements/routes.ts';
import { createDryRunReports } from './cloud/money/dry-runs/service.ts';
import {
  clusterPriceRoutes,
  instancePriceRoutes,
  itemPriceRoutes,
  loadBalancerPriceRoutes,
  pricingRoutes,
} from './cloud/money/pricing/routes.ts';
import { ddosRoutes } from './cloud/network/ddos/routes.ts';
import { floatingIpTags } from './cloud/network/floating-ips/changes.ts';
import { floatingIpChangeRoutes, floatingIpRoutes } from './cloud/network/floating-ips/routes.ts';
import { portSecurityRoutes } from './cloud/network/interfaces/routes.ts';
import { ipRangeRoutes } from './cloud/network/ip-ranges/routes.ts';
import { networkTags } from './cloud/network/networks/changes.ts';
import { networkRoutes } from './cloud/network/networks/routes.ts';
import { subnetTags } from './cloud/network/networks/subnets/changes.ts';
import { subnetRoutes } from './cloud/network/networks/subnets/routes.ts';
import { portRoutes } from './cloud/network/ports/routes.ts';
import { projectChangeRoutes } from './cloud/network/project-changes/routes.ts';
import { reservedFixedIpRoutes } from './cloud/network/reserved-fixed-ips/routes.ts';
import { routerRoutes } from './cloud/network/routers/routes.ts';
import { securityGroupRoutes } from './cloud/network/security-groups/routes.ts';
import { securityGroupTags } from './cloud/network/security-groups/service.ts';
import { fileShareRoutes, shareAccessRoutes } from './cloud/storage/file-shares/routes.ts';
import { fileShareTags } from './cloud/storage/file-shares/service.ts';
import { imageRoutes } from './cloud/storage/images/routes.ts';
import { imageTags } from './cloud/storage/images/service.ts';
import { volumeChangeRoutes } from './cloud/storage/volumes/changes/routes.ts';
import { volumeTags } from './cloud/storage/volumes/changes/service.ts';
import { volumeRoutes } from './cloud/storage/volumes/routes.ts';
import { snapshotRoutes } from './cloud/storage/volumes/snapshots/routes.ts';
import { overtakenNamed } from './db/database.ts';
import { outageNamed } from './db/outages.ts';
import { createAccessLog } from './http/access-log.ts';
import { answerWithoutNulls, keepNulls } from './http/client-nulls.ts';
import { type Dialect, dialects } from './http/dialect.ts';
import { offerDryRuns } from './http/dry-runs.ts';
import { takeEmptyAsAbsent } from './http/empty-queries.ts';
import { healthRoutes, type Readiness } from './http/health.ts';
import { leaveLegacyOut } from './http/legacy-fields.ts';
import { type Metrics, metricsRoute } from './http/metrics.ts';
import { knowOlderNames } from './http/older-names.ts';
import { documentApi } from './http/openapi.ts';
import { referencePage } from './http/reference-page.ts';
import { type Api, createServer } from './http/server.ts';
import { ignoreUnknownFields } from './http/unknown-fields.ts';
import { activityLogRoutes } from './iam/activity-log/routes.ts';
import { productAvailabilityRoutes } from './iam/client-services/availability/routes.ts';
import { clientServiceRoutes } from './iam/client-services/routes.ts';
import { resellerRoutes } from './iam/clients/resellers/routes.ts';
import { clientRoutes, suspensionRoutes } from './iam/clients/routes.ts';
import { featureRoutes } from './iam/features/routes.ts';
import { passwordResetRoutes } from './iam/logins/password-resets/routes.ts';
import { loginRoutes } from './iam/logins/routes.ts';
import { notificationSettingRoutes } from './iam/notification-settings/routes.ts';
import { tokenRoutes } from './iam/tokens/routes.ts';
import { invitationRoutes, memberRoutes, userRoutes } from './iam/users/routes.ts';
import { sellerRoutes } from './iam/users/sellers/routes.ts';
import type { Tracing } from './lib/tracing.ts';
import type { Platform } from './platform.ts';
import type { RequestMeasures } from './requests/measures.ts';
import { aiTaskRoutes } from './streaming/ai-tasks/routes.ts';
import { auditRoutes } from './tradewind/audit/routes.ts';
import { deletionRequestRoutes } from './tradewind/deletion-requests/routes.ts';
import { deletionRoutes } from './tradewind/deletions/routes.ts';
import { eventRoutes } from './tradewind/events/routes.ts';
import { reachabilityRoutes } from './tradewind/reachability/routes.ts';
import { taskStepRoutes } from './tradewind/task-steps/routes.ts';
import type { TestKitParts } from './tradewind/test-kit/kit.ts';
import { keepRequests } from './tradewind/test-kit/requests.ts';
import { failRequests, isOfTestKit, testKitRoutes } from './tradewind/test-kit/routes.ts';
import { webhookRoutes } from './tradewind/webhooks/routes.ts';

/** Builds the whole HTTP API without side effects: it doesn't listen until the caller makes it. */
export async function buildApp(deps: {
  on: Platform;
  log: FastifyBaseLogger;
  readiness: Readiness;
  rateLimit: number;
  /** Whether unknown fields are refused at every base address. */
  strict: boolean;
  trustedProxies: readonly string[];
  metrics?: Metrics;
  measures?: RequestMeasures;
  tracing?: Tracing | undefined;
  /** For tests: lets requests fail, and takes everything back. */
  testKit?: TestKitParts;
  /** Logs one line for each request, if given. */
  accessLog?: FastifyBaseLogger;
}): Promise<Api> {
  const {
    on,
    log,
    readiness,
    rateLimit,
    strict,
    trustedProxies,
    metrics,
    measures,
    tracing,
    accessLog,
    testKit,
  } = deps;
  const app = createServer({
    log,
    authenticator: on.authenticator,
    nextRequestId: randomUUID,
    rateLimit,
    measures,
    tracing,
    trustedProxies,
    requestLog: on.requestLog,
    refusals: on.refusals,
    accessLog: accessLog && createAccessLog(accessLog),
    nameFault: (error) => overtakenNamed(outageNamed(error)),
  });
  offerDryRuns(app, createDryRunReports(on));
  const requests = testKit && keepRequests(app, isOfTestKit);
  const operations = testKit && failRequests(app, testKit.kit.rules, isOfTestKit);
  if (metrics) metricsRoute(app, metrics);
  healthRoutes(app, readiness);
  referencePage(app);
  for (const dialect of dialects) {
    await app.register(
      async (scope) => {
        if (dialect.legacy) {
          // Hooks of routes run in the opposite order: a parameter without a value is absent by any name.
          knowOlderNames(scope);
          takeEmptyAsAbsent(scope);
        } else {
          leaveLegacyOut(scope);
        }
        if (dialect.nulls) keepNulls(scope);
        else answerWithoutNulls(scope);
        if (dialect.openBodies) ignoreUnknownFields(scope, { strict });
        await documentApi(scope, dialect);
        findScopes(scope, on);
        routes(scope, dialect, on);
      },
      { prefix: dialect.prefix },
    );
  }
  if (testKit && requests && operations) testKitRoutes(app, { ...testKit, requests, operations });
  await app.ready();
  return app;
}

/** What the tags of each family's resources are read and changed by. */
const TAG_HOLDERS = {
  fileShare: fileShareTags,
  floatingIp: floatingIpTags,
  image: imageTags,
  instance: instanceTags,
  loadBalancer: loadBalancerTags,
  network: networkTags,
  securityGroup: securityGroupTags,
  subnet: subnetTags,
  volume: volumeTags,
};

/** Registers every operation of the API under one base address. */
function routes(app: Api, dialect: Dialect, on: Platform): void {
  taskRoutes(app, on);
  projectRoutes(app, on);
  projectChangeRoutes(app, dialect, on);
  securityGroupRoutes(app, dialect, on);
  networkRoutes(app, dialect, on);
  subnetRoutes(app, dialect, on);
  routerRoutes(app, dialect, on);
  ipRangeRoutes(app, on);
  portRoutes(app, dialect, on);
  portSecurityRoutes(app, on);
  floatingIpRoutes(app, dialect, on);
  floatingIpListRoutes(app, on);
  floatingIpChangeRoutes(app, dialect, on);
  reservedFixedIpRoutes(app, dialect, on);
  loadBalancerRoutes(app, dialect, on);
  loadBalancerChangeRoutes(app, dialect, on);
  listenerRoutes(app, dialect, on);
  lbPoolRoutes(app, dialect, on);
  lbMemberRoutes(app, dialect, on);
  healthMonitorRoutes(app, dialect, on);
  l7PolicyRoutes(app, dialect, on);
  loadBalancerCareRoutes(app, dialect, on);
  lbFlavorRoutes(app, on);
  ddosRoutes(app, dialect, on);
  instanceRoutes(app, dialect, on);
  groupInstanceRoutes(app, on);
  instanceGroupRoutes(app, on);
  instanceChangeRoutes(app, dialect, on);
  interfaceRoutes(app, dialect, on);
  directActionRoutes(app, on);
  instancePlacementRoutes(app, dialect, on);
  placementGroupRoutes(app, dialect, on);
  instanceOfferRoutes(app, on);
  instanceMetricsRoutes(app, on);
  volumeRoutes(app, dialect, on);
  volumeChangeRoutes(app, dialect, on);
  snapshotRoutes(app, dialect, on);
  imageRoutes(app, dialect, on);
  clusterRoutes(app, dialect, on);
  nodeRoutes(app, on);
  catalogRoutes(app, on);
  flavorRoutes(app, on);
  kubernetesOfferRoutes(app, on);
  pricingRoutes(app, on);
  clusterPriceRoutes(app, on);
  loadBalancerPriceRoutes(app, on);
  itemPriceRoutes(app, on);
  instancePriceRoutes(app, on);
  priceListRoutes(app, on);
  costRoutes(app, on);
  statementRoutes(app, on);
  quotaRoutes(app, on);
  quotaListRoutes(app, on);
  limitRequestRoutes(app, on);
  sshKeyRoutes(app, on);
  if (dialect.legacy) keyPairRoutes(app, on);
  secretRoutes(app, dialect, on);
  fileShareRoutes(app, dialect, on);
  shareAccessRoutes(app, on);
  loggingRoutes(app, dialect, on);
  if (dialect.legacy) olderLoggingHostRoutes(app, on);
  metadataRoutes(app, on, TAG_HOLDERS);
  loginRoutes(app, on);
  userRoutes(app, on);
  memberRoutes(app, on);
  sellerRoutes(app, on);
  invitationRoutes(app, on);
  clientRoutes(app, on);
  suspensionRoutes(app, on);
  resellerRoutes(app, on);
  clientServiceRoutes(app, on);
  productAvailabilityRoutes(app, on);
  activityLogRoutes(app, on);
  featureRoutes(app, on);
  notificationSettingRoutes(app, on);
  tokenRoutes(app, on);
  userActionRoutes(app, on);
  requestLogRoutes(app, on);
  subscriptionRoutes(app, on);
  amqpSubscriptionRoutes(app);
  aiTaskRoutes(app, on);
  eventRoutes(app, on);
  auditRoutes(app, on);
  taskStepRoutes(app, on);
  deletionRequestRoutes(app, on);
  passwordResetRoutes(app, on);
  webhookRoutes(app, on);
  taskCancellationRoutes(app, on);
  deletionRoutes(app, on);
  reachabilityRoutes(app, on);
}
