import type { ProjectTables } from '../cloud/projects/tables.ts';
import type { QuotaTables } from '../cloud/quotas/tables.ts';
import type { SecurityGroupTables } from '../cloud/security-groups/tables.ts';
import type { TaskTables } from '../cloud/tasks/tables.ts';
import type { FeatureTables } from '../iam/features/tables.ts';
import type { IdentityTables } from '../iam/identity/tables.ts';
import type { NotificationTables } from '../iam/notification-settings/tables.ts';
import type { WorkerTables } from '../workflows/tables.ts';

/** Every table of the database, by feature. A feature's `tables.ts` imports nothing but kysely. */
export interface Tables
  extends FeatureTables,
    IdentityTables,
    NotificationTables,
    ProjectTables,
    QuotaTables,
    SecurityGroupTables,
    TaskTables,
    WorkerTables {}
