import type { SimulatedObjectTables } from '../backends/simulated/tables.ts';
import type { InstanceTables } from '../cloud/compute/instances/tables.ts';
import type { PlacementGroupTables } from '../cloud/compute/placement-groups/tables.ts';
import type { SshKeyTables } from '../cloud/compute/ssh-keys/tables.ts';
import type { CatalogTables } from '../cloud/ground/catalog/tables.ts';
import type { LoggingTables } from '../cloud/ground/logging/tables.ts';
import type { PriceListTables } from '../cloud/ground/prices/lists/tables.ts';
import type { ProjectTables } from '../cloud/ground/projects/tables.ts';
import type { QuotaListTables } from '../cloud/ground/quotas/lists/tables.ts';
import type { QuotaTables } from '../cloud/ground/quotas/tables.ts';
import type { TaskTables } from '../cloud/ground/tasks/tables.ts';
import type { UserActionTables } from '../cloud/ground/user-actions/tables.ts';
import type { ClusterTables } from '../cloud/kubernetes/clusters/tables.ts';
import type { LoadBalancerTables } from '../cloud/load-balancing/load-balancers/tables.ts';
import type { StoredSecretTables } from '../cloud/load-balancing/secrets/tables.ts';
import type { CostTables } from '../cloud/money/costs/tables.ts';
import type { DdosTables } from '../cloud/network/ddos/tables.ts';
import type { FloatingIpTables } from '../cloud/network/floating-ips/tables.ts';
import type { NetworkTables } from '../cloud/network/networks/tables.ts';
import type { PortTables } from '../cloud/network/ports/tables.ts';
import type { RouterTables } from '../cloud/network/routers/tables.ts';
import type { SecurityGroupTables } from '../cloud/network/security-groups/tables.ts';
import type { FileShareTables } from '../cloud/storage/file-shares/tables.ts';
import type { ImageTables } from '../cloud/storage/images/tables.ts';
import type { SnapshotTables } from '../cloud/storage/volumes/snapshots/tables.ts';
import type { VolumeTables } from '../cloud/storage/volumes/tables.ts';
import type { WantTables } from '../convergence/tables.ts';
import type { ProductAvailabilityTables } from '../iam/client-services/availability/tables.ts';
import type { ClientServiceTables } from '../iam/client-services/tables.ts';
import type { ClientTables } from '../iam/clients/tables.ts';
import type { FeatureTables } from '../iam/features/tables.ts';
import type { IdentityTables } from '../iam/identity/tables.ts';
import type { PasswordResetTables } from '../iam/logins/password-resets/tables.ts';
import type { LoginTables } from '../iam/logins/tables.ts';
import type { NotificationTables } from '../iam/notification-settings/tables.ts';
import type { TokenTables } from '../iam/tokens/tables.ts';
import type { UserTables } from '../iam/users/tables.ts';
import type { MailTables } from '../mail/tables.ts';
import type { RequestTables } from '../requests/tables.ts';
import type { SecretTables } from '../secrets/tables.ts';
import type { AiTaskTables } from '../streaming/ai-tasks/tables.ts';
import type { AuditTables } from '../tradewind/audit/tables.ts';
import type { DeletionRequestTables } from '../tradewind/deletion-requests/tables.ts';
import type { DeletionTables } from '../tradewind/deletions/tables.ts';
import type { EventTables } from '../tradewind/events/tables.ts';
import type { WebhookTables } from '../tradewind/webhooks/tables.ts';
import type { WorkerTables } from '../worker/tables.ts';

/** Every table of the database, by feature. A feature's `tables.ts` imports nothing but kysely. */
export interface Tables
  extends AiTaskTables,
    AuditTables,
    CatalogTables,
    ClientServiceTables,
    ProductAvailabilityTables,
    ClientTables,
    ClusterTables,
    CostTables,
    FeatureTables,
    FileShareTables,
    DdosTables,
    DeletionRequestTables,
    DeletionTables,
    EventTables,
    FloatingIpTables,
    IdentityTables,
    ImageTables,
    InstanceTables,
    LoadBalancerTables,
    LoggingTables,
    LoginTables,
    MailTables,
    NetworkTables,
    NotificationTables,
    PasswordResetTables,
    PlacementGroupTables,
    PortTables,
    PriceListTables,
    ProjectTables,
    QuotaListTables,
    QuotaTables,
    RequestTables,
    RouterTables,
    SecretTables,
    SecurityGroupTables,
    SimulatedObjectTables,
    SnapshotTables,
    SshKeyTables,
    StoredSecretTables,
    TaskTables,
    TokenTables,
    UserActionTables,
    UserTables,
    VolumeTables,
    WantTables,
    WebhookTables,
    WorkerTables {}
