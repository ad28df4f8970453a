import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { directActionRoutes } from './cloud/compute/instances/changes/direct-action-routes.ts';
import { instanceChangeRoutes } from './cloud/compute/instances/changes/routes.ts';
import { interfaceRoutes } from './cloud/compute/instances/interfaces/routes.ts';
import { instanceMetricsRoutes } from './cloud/compute/instances/metrics/routes.ts';
import { instanceOfferRoutes } from './cloud/compute/instances/offers/routes.ts';
import { instancePlacementRoutes } from './cloud/compute/instances/placement/routes.ts';
import { instanceRoutes } from './cloud/compute/instances/routes.ts';
import { groupInstanceRoutes } from './cloud/compute/instances/security-groups/of-group-routes.ts';
import { instanceGroupRoutes } from './cloud/compute/instances/security-groups/routes.ts';
import { placementGroupRoutes } from './cloud/compute/placement-groups/routes.ts';
import { keyPairRoutes } from './cloud/compute/ssh-keys/keypair-routes.ts';
import { sshKeyRoutes } from './cloud/compute/ssh-keys/routes.ts';
import { olderLoggingHostRoutes } from './cloud/ground/catalog/region-service-routes.ts';
import { catalogRoutes } from './cloud/ground/catalog/routes.ts';
import { loggingRoutes } from './cloud/ground/logging/routes.ts';
import { metadataRoutes } from './cloud/ground/metadata/routes.ts';
import { priceListRoutes } from './cloud/ground/prices/lists/routes.ts';
import { findScopes } from './cloud/ground/projects/request-scope.ts';
import { projectRoutes } from './cloud/ground/projects/routes.ts';
import { quotaListRoutes } from './cloud/ground/quotas/lists/routes.ts';
import { limitRequestRoutes } from './cloud/ground/quotas/requests/routes.ts';
import { quotaRoutes } from './cloud/ground/quotas/routes.ts';
import { taskCancellationRoutes } from './cloud/ground/tasks/cancellation/routes.ts';
import { taskRoutes } from './cloud/ground/tasks/routes.ts';
import { requestLogRoutes } from './cloud/ground/user-actions/requests-routes.ts';
import { userActionRoutes } from './cloud/ground/user-actions/routes.ts';
import { amqpSubscriptionRoutes } from './cloud/ground/user-actions/subscriptions/amqp-routes.ts';
import { subscriptionRoutes } from './cloud/ground/user-actions/subscriptions/routes.ts';
import { nodeRoutes } from './cloud/kubernetes/clusters/nodes/routes.ts';
import { clusterRoutes } from './cloud/kubernetes/clusters/routes.ts';
import { floatingIpListRoutes } from './cloud/load-balancing/floating-ip-list/routes.ts';
import { loadBalancerChangeRoutes } from './cloud/load-balancing/load-balancers/change-routes.ts';
import { lbFlavorRoutes } from './cloud/load-balancing/load-balancers/flavors/routes.ts';
import { l7PolicyRoutes } from './cloud/load-balancing/load-balancers/l7policies/routes.ts';
import { listenerRoutes } from './cloud/load-balancing/load-balancers/listeners/routes.ts';
import { lbMemberRoutes } from './cloud/load-balancing/load-balancers/pools/member-routes.ts';
import { healthMonitorRoutes } from './cloud/load-balancing/load-balancers/pools/monitor-routes.ts';
import { lbPoolRoutes } from './cloud/load-balancing/load-balancers/pools/routes.ts';
import { loadBalancerRoutes } from './cloud/load-balancing/load-balancers/routes.ts';
import { loadBalancerCareRoutes } from './cloud/load-balancing/load-balancers/status/routes.ts';
import { secretRoutes } from './cloud/load-balancing/secrets/routes.ts';
import { costRoutes } from './cloud/money/costs/routes.ts';
import { statementRoutes } from './cloud/money/costs/statements/routes.ts';
import { clusterPriceRoutes } from './cloud/money/pricing/cluster-routes.ts';
import { instancePriceRoutes, itemPriceRoutes } from './cloud/money/pricing/item-routes.ts';
import { loadBalancerPriceRoutes } from './cloud/money/pricing/load-balancer-routes.ts';
import { pricingRoutes } from './cloud/money/pricing/routes.ts';
import { ddosRoutes } from './cloud/network/ddos/routes.ts';
import { floatingIpChangeRoutes } from './cloud/network/floating-ips/change-routes.ts';
import { floatingIpRoutes } from './cloud/network/floating-ips/routes.ts';
import { portSecurityRoutes } from './cloud/network/interfaces/routes.ts';
import { ipRangeRoutes } from './cloud/network/ip-ranges/routes.ts';
import { networkRoutes } from './cloud/network/networks/routes.ts';
import { subnetRoutes } from './cloud/network/networks/subnets/routes.ts';
import { portRoutes } from './cloud/network/ports/routes.ts';
import { projectChangeRoutes } from './cloud/network/project-changes/routes.ts';
import { reservedFixedIpRoutes } from './cloud/network/reserved-fixed-ips/routes.ts';
import { routerRoutes } from './cloud/network/routers/routes.ts';
import { securityGroupRoutes } from './cloud/network/security-groups/routes.ts';
import { shareAccessRoutes } from './cloud/storage/file-shares/access-routes.ts';
import { fileShareRoutes } from './cloud/storage/file-shares/routes.ts';
import { imageRoutes } from './cloud/storage/images/routes.ts';
import { snapshotRoutes } from './cloud/storage/snapshots/routes.ts';
import { volumeChangeRoutes } from './cloud/storage/volumes/changes/routes.ts';
import { volumeRoutes } from './cloud/storage/volumes/routes.ts';
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
import { clientRoutes } from './iam/clients/routes.ts';
import { suspensionRoutes } from './iam/clients/suspension-routes.ts';
import { featureRoutes } from './iam/features/routes.ts';
import { passwordResetRoutes } from './iam/logins/password-resets/routes.ts';
import { loginRoutes } from './iam/logins/routes.ts';
import { notificationSettingRoutes } from './iam/notification-settings/routes.ts';
import { tokenRoutes } from './iam/tokens/routes.ts';
import { invitationRoutes } from './iam/users/invitation-routes.ts';
import { memberRoutes } from './iam/users/member-routes.ts';
import { userRoutes } from './iam/users/routes.ts';
import { sellerRoutes } from './iam/users/sellers/routes.ts';
import type { Tracing } from './lib/tracing.ts';
import type { RequestMeasures } from './requests/measures.ts';
import type { Services } from './services.ts';
import { aiTaskRoutes } from './streaming/ai-tasks/routes.ts';
import { auditRoutes } from './tradewind/audit/routes.ts';
import { deletionRequestRoutes } from './tradewind/deletion-requests/routes.ts';
import { deletionRoutes } from './tradewind/deletions/routes.ts';
import { eventRoutes } from './tradewind/events/routes.ts';
import { reachabilityRoutes } from './tradewind/reachability/routes.ts';
import { taskStepRoutes } from './tradewind/task-steps/routes.ts';
import { failRequests } from './tradewind/test-kit/faulty-routes.ts';
import type { TestKitParts } from './tradewind/test-kit/kit.ts';
import { keepRequests } from './tradewind/test-kit/requests.ts';
import { isOfTestKit, testKitRoutes } from './tradewind/test-kit/routes.ts';
import { webhookRoutes } from './tradewind/webhooks/routes.ts';

/** Builds the whole HTTP API without side effects: it doesn't listen until the caller makes it. */
export async function buildApp(deps: {
  services: Services;
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
    services,
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
    authenticator: services.authenticator,
    nextRequestId: randomUUID,
    rateLimit,
    measures,
    tracing,
    trustedProxies,
    requestLog: services.requestLog,
    refusals: services.refusals,
    accessLog: accessLog && createAccessLog(accessLog),
    nameFault: (error) => overtakenNamed(outageNamed(error)),
  });
  offerDryRuns(app, services.dryRuns);
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
        findScopes(scope, services.projects);
        routes(scope, dialect, services);
      },
      { prefix: dialect.prefix },
    );
  }
  if (testKit && requests && operations) testKitRoutes(app, { ...testKit, requests, operations });
  await app.ready();
  return app;
}

/** Registers every operation of the API under one base address. */
function routes(app: Api, dialect: Dialect, services: Services): void {
  taskRoutes(app, services);
  projectRoutes(app, services);
  projectChangeRoutes(app, dialect, services);
  securityGroupRoutes(app, dialect, services);
  networkRoutes(app, dialect, services);
  subnetRoutes(app, dialect, services);
  routerRoutes(app, dialect, services);
  ipRangeRoutes(app, services);
  portRoutes(app, dialect, services);
  portSecurityRoutes(app, services);
  floatingIpRoutes(app, dialect, services);
  floatingIpListRoutes(app, services);
  floatingIpChangeRoutes(app, dialect, services);
  reservedFixedIpRoutes(app, dialect, services);
  loadBalancerRoutes(app, dialect, services);
  loadBalancerChangeRoutes(app, dialect, services);
  listenerRoutes(app, dialect, services);
  lbPoolRoutes(app, dialect, services);
  lbMemberRoutes(app, dialect, services);
  healthMonitorRoutes(app, dialect, services);
  l7PolicyRoutes(app, dialect, services);
  loadBalancerCareRoutes(app, dialect, services);
  lbFlavorRoutes(app, services);
  ddosRoutes(app, dialect, services);
  instanceRoutes(app, dialect, services);
  groupInstanceRoutes(app, services);
  instanceGroupRoutes(app, services);
  instanceChangeRoutes(app, dialect, services);
  interfaceRoutes(app, dialect, services);
  directActionRoutes(app, services);
  instancePlacementRoutes(app, dialect, services);
  placementGroupRoutes(app, dialect, services);
  instanceOfferRoutes(app, services);
  instanceMetricsRoutes(app, services);
  volumeRoutes(app, dialect, services);
  volumeChangeRoutes(app, dialect, services);
  snapshotRoutes(app, dialect, services);
  imageRoutes(app, dialect, services);
  clusterRoutes(app, dialect, services);
  nodeRoutes(app, services);
  catalogRoutes(app, services);
  pricingRoutes(app, services);
  clusterPriceRoutes(app, services);
  loadBalancerPriceRoutes(app, services);
  itemPriceRoutes(app, services);
  instancePriceRoutes(app, services);
  priceListRoutes(app, services);
  costRoutes(app, services);
  statementRoutes(app, services);
  quotaRoutes(app, services);
  quotaListRoutes(app, services);
  limitRequestRoutes(app, services);
  sshKeyRoutes(app, services);
  if (dialect.legacy) keyPairRoutes(app, services);
  secretRoutes(app, dialect, services);
  fileShareRoutes(app, dialect, services);
  shareAccessRoutes(app, services);
  loggingRoutes(app, dialect, services);
  if (dialect.legacy) olderLoggingHostRoutes(app, services);
  metadataRoutes(app, services);
  loginRoutes(app, services);
  userRoutes(app, services);
  memberRoutes(app, services);
  sellerRoutes(app, services);
  invitationRoutes(app, services);
  clientRoutes(app, services);
  suspensionRoutes(app, services);
  resellerRoutes(app, services);
  clientServiceRoutes(app, services);
  productAvailabilityRoutes(app, services);
  activityLogRoutes(app, services);
  featureRoutes(app, services);
  notificationSettingRoutes(app, services);
  tokenRoutes(app, services);
  userActionRoutes(app, services);
  requestLogRoutes(app, services);
  subscriptionRoutes(app, services);
  amqpSubscriptionRoutes(app);
  aiTaskRoutes(app, services);
  eventRoutes(app, services);
  auditRoutes(app, services);
  taskStepRoutes(app, services);
  deletionRequestRoutes(app, services);
  passwordResetRoutes(app, services);
  webhookRoutes(app, services);
  taskCancellationRoutes(app, services);
  deletionRoutes(app, services);
  reachabilityRoutes(app, services);
}
