import type { Migration } from 'kysely';
import * as accountsProjectsTasks from './0001_accounts_projects_tasks.ts';
import * as workers from './0002_workers.ts';
import * as securityGroups from './0003_security_groups.ts';
import * as networksAndInstances from './0004_networks_and_instances.ts';
import * as volumesAndSnapshots from './0005_volumes_and_snapshots.ts';
import * as aiTasks from './0006_ai_tasks.ts';
import * as clusters from './0007_clusters.ts';
import * as sshKeysAndFileShares from './0008_ssh_keys_and_file_shares.ts';
import * as featuresAndNotifications from './0009_features_and_notifications.ts';

/** Every migration by the name of its file, in order. Names that have landed never change. */
export const migrations: Record<string, Migration> = {
  '0001_accounts_projects_tasks': accountsProjectsTasks,
  '0002_workers': workers,
  '0003_security_groups': securityGroups,
  '0004_networks_and_instances': networksAndInstances,
  '0005_volumes_and_snapshots': volumesAndSnapshots,
  '0006_ai_tasks': aiTasks,
  '0007_clusters': clusters,
  '0008_ssh_keys_and_file_shares': sshKeysAndFileShares,
  '0009_features_and_notifications': featuresAndNotifications,
};
