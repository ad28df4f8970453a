import { up as accountsProjectsTasks } from './0001_accounts_projects_tasks.ts';
import { up as workers } from './0002_workers.ts';
import { up as securityGroups } from './0003_security_groups.ts';
import { up as networksAndInstances } from './0004_networks_and_instances.ts';
import { up as volumesAndSnapshots } from './0005_volumes_and_snapshots.ts';
import { up as aiTasks } from './0006_ai_tasks.ts';
import { up as clusters } from './0007_clusters.ts';
import { up as sshKeysAndFileShares } from './0008_ssh_keys_and_file_shares.ts';
import { up as featuresAndNotifications } from './0009_features_and_notifications.ts';
import { up as taskListsAndDeletedProjects } from './0010_task_lists_and_deleted_projects.ts';
import { up as clusterPoolsAndCredentials } from './0011_cluster_pools_and_credentials.ts';
import { up as networkChanges } from './0012_network_changes.ts';
import { up as nodesOfPools } from './0013_nodes_of_pools.ts';
import { up as floatingAndReservedAddresses } from './0014_floating_and_reserved_addresses.ts';
import { up as imagesLoggingAndShareChanges } from './0015_images_logging_and_share_changes.ts';
import { up as usersAndLogins } from './0016_users_and_logins.ts';
import { up as requests } from './0017_requests.ts';
import { up as projectsWithoutDeletionTime } from './0019_projects_without_deletion_time.ts';
import { up as aiWork } from './0020_ai_work.ts';
import { up as usersByText } from './0021_users_by_text.ts';
import { up as invitations } from './0022_invitations.ts';
import { up as clientServices } from './0023_client_services.ts';
import { up as ipv6Subnets } from './0024_ipv6_subnets.ts';
import { up as fileShareAccessRules } from './0025_file_share_access_rules.ts';
import { up as catalog } from './0026_catalog.ts';
import { up as virtualAddresses } from './0031_virtual_addresses.ts';
import { up as userActionResources } from './0032_user_action_resources.ts';
import { up as wants } from './0033_wants.ts';
import { up as adoptedInfrastructure } from './0034_adopted_infrastructure.ts';
import { up as oneWorker } from './0035_one_worker.ts';
import { up as taskLists } from './0036_task_lists.ts';
import { up as noPoolRevisions } from './0037_no_pool_revisions.ts';
import { up as dataKeys } from './0038_data_keys.ts';
import { up as namedConstraints } from './0045_named_constraints.ts';
import { up as revisions } from './0046_revisions.ts';
import { up as freeExternalAddresses } from './0047_free_external_addresses.ts';
import { up as quartersOfUserActions } from './0048_quarters_of_user_actions.ts';
import { up as quartersOfTasks } from './0049_quarters_of_tasks.ts';
import { up as routers } from './0050_routers.ts';
import { up as routerAddresses } from './0051_router_addresses.ts';
import { up as secrets } from './0052_secrets.ts';
import { up as placementGroups } from './0053_placement_groups.ts';
import { up as quotas } from './0054_quotas.ts';
import { up as loadBalancers } from './0055_load_balancers.ts';
import { up as loadBalancerPorts } from './0056_load_balancer_ports.ts';
import { up as tokenMakers } from './0057_token_makers.ts';
import { up as downloadedImages } from './0058_downloaded_images.ts';
import { up as metering } from './0059_metering.ts';
import { up as ddosProfiles } from './0060_ddos_profiles.ts';
import { up as meteredOnce } from './0061_metered_once.ts';
import { up as events } from './0062_events.ts';
import { up as webhooks } from './0063_webhooks.ts';
import { up as audit } from './0064_audit.ts';
import { up as auditQuarters } from './0065_audit_quarters.ts';
import { up as auditIndexes } from './0066_audit_indexes.ts';
import { up as deletions } from './0067_deletions.ts';
import { up as webhookIndexes } from './0070_webhook_indexes.ts';
import { up as priceLists } from './0071_price_lists.ts';
import { up as quotaLists } from './0072_quota_lists.ts';
import { up as mails } from './0073_mails.ts';
import { up as sellers } from './0074_sellers.ts';
import { up as sellerIndexes } from './0075_seller_indexes.ts';
import { up as productAvailability } from './0076_product_availability.ts';
import { up as loginKeys } from './0085_login_keys.ts';
import { up as sealsWithTimes } from './0090_seals_with_times.ts';
import { up as removalTime } from './0091_removal_time.ts';
import { up as triedEvents } from './0092_tried_events.ts';
import { up as waitingDeletions } from './0093_waiting_deletions.ts';
import { up as waitingDeletionsInTurns } from './0094_waiting_deletions_in_turns.ts';
import { up as comments } from './0095_comments.ts';
import { up as snapshotSchedules } from './0096_snapshot_schedules.ts';
import { up as roleAssignments } from './0097_role_assignments.ts';
import { up as consoleCodes } from './0098_console_codes.ts';
import { up as frameRates } from './0099_frame_rates.ts';
import { up as externalNetworks } from './0100_external_networks.ts';
import { up as lookupIndexes } from './0102_lookup_indexes.ts';
import { up as lookupQuarters } from './0103_lookup_quarters.ts';
import { up as secondFactors } from './0104_second_factors.ts';
import { up as signInPolicies } from './0105_sign_in_policies.ts';
import { up as wholesalePrices } from './0106_wholesale_prices.ts';
import { up as billingParties } from './0107_billing_parties.ts';
import { up as invoices } from './0108_invoices.ts';
import { up as mailedLinks } from './0110_mailed_links.ts';
import { up as tokenBounds } from './0111_token_bounds.ts';
import { up as singleSignOn } from './0112_single_sign_on.ts';
import { up as budgets } from './0113_budgets.ts';
import { up as workerRegions } from './0114_worker_regions.ts';
import { up as maintenance } from './0115_maintenance.ts';
import { up as observed } from './0116_observed.ts';
import { up as suspensionsAndUsage } from './0117_suspensions_and_usage.ts';
import { up as traffic } from './0118_traffic.ts';
import { up as trafficOfDays } from './0119_traffic_of_days.ts';
import { up as platformRouted } from './0120_platform_routed.ts';
import { up as refusedAtTheEnd } from './0121_refused_at_the_end.ts';
import { up as removalsNobodyAwaits } from './0122_removals_nobody_awaits.ts';
import { up as tasksStarted } from './0123_tasks_started.ts';
import type { SchemaMigration } from './migration.ts';

/** Every migration by its file name, in order. Names that have landed never change. */
export const migrations: Record<string, SchemaMigration> = {
  '0001_accounts_projects_tasks': { up: accountsProjectsTasks },
  '0002_workers': { up: workers },
  '0003_security_groups': { up: securityGroups },
  '0004_networks_and_instances': { up: networksAndInstances },
  '0005_volumes_and_snapshots': { up: volumesAndSnapshots },
  '0006_ai_tasks': { up: aiTasks },
  '0007_clusters': { up: clusters },
  '0008_ssh_keys_and_file_shares': { up: sshKeysAndFileShares },
  '0009_features_and_notifications': { up: featuresAndNotifications },
  '0010_task_lists_and_deleted_projects': { up: taskListsAndDeletedProjects },
  '0011_cluster_pools_and_credentials': { up: clusterPoolsAndCredentials },
  '0012_network_changes': { up: networkChanges },
  '0013_nodes_of_pools': { up: nodesOfPools },
  '0014_floating_and_reserved_addresses': { up: floatingAndReservedAddresses },
  '0015_images_logging_and_share_changes': { up: imagesLoggingAndShareChanges },
  '0016_users_and_logins': { up: usersAndLogins },
  '0017_requests': { up: requests },
  '0019_projects_without_deletion_time': { up: projectsWithoutDeletionTime },
  '0020_ai_work': { up: aiWork },
  '0021_users_by_text': { up: usersByText },
  '0022_invitations': { up: invitations },
  '0023_client_services': { up: clientServices },
  '0024_ipv6_subnets': { up: ipv6Subnets },
  '0025_file_share_access_rules': { up: fileShareAccessRules },
  '0026_catalog': { up: catalog },
  '0031_virtual_addresses': { up: virtualAddresses },
  '0032_user_action_resources': { up: userActionResources },
  '0033_wants': { up: wants },
  '0034_adopted_infrastructure': { up: adoptedInfrastructure },
  '0035_one_worker': { up: oneWorker },
  '0036_task_lists': { up: taskLists },
  '0037_no_pool_revisions': { up: noPoolRevisions },
  '0038_data_keys': { up: dataKeys },
  '0045_named_constraints': { up: namedConstraints },
  '0046_revisions': { up: revisions },
  '0047_free_external_addresses': { up: freeExternalAddresses },
  '0048_quarters_of_user_actions': { up: quartersOfUserActions },
  '0049_quarters_of_tasks': { up: quartersOfTasks },
  '0050_routers': { up: routers },
  '0051_router_addresses': { up: routerAddresses, transaction: false },
  '0052_secrets': { up: secrets },
  '0053_placement_groups': { up: placementGroups },
  '0054_quotas': { up: quotas },
  '0055_load_balancers': { up: loadBalancers },
  '0056_load_balancer_ports': { up: loadBalancerPorts, transaction: false },
  '0057_token_makers': { up: tokenMakers },
  '0058_downloaded_images': { up: downloadedImages },
  '0059_metering': { up: metering },
  '0060_ddos_profiles': { up: ddosProfiles },
  '0061_metered_once': { up: meteredOnce },
  '0062_events': { up: events },
  '0063_webhooks': { up: webhooks },
  '0064_audit': { up: audit },
  '0065_audit_quarters': { up: auditQuarters, transaction: false },
  '0066_audit_indexes': { up: auditIndexes },
  '0067_deletions': { up: deletions },
  '0070_webhook_indexes': { up: webhookIndexes, transaction: false },
  '0071_price_lists': { up: priceLists },
  '0072_quota_lists': { up: quotaLists },
  '0073_mails': { up: mails },
  '0074_sellers': { up: sellers },
  '0075_seller_indexes': { up: sellerIndexes, transaction: false },
  '0076_product_availability': { up: productAvailability },
  '0085_login_keys': { up: loginKeys },
  '0090_seals_with_times': { up: sealsWithTimes },
  '0091_removal_time': { up: removalTime },
  '0092_tried_events': { up: triedEvents },
  '0093_waiting_deletions': { up: waitingDeletions },
  '0094_waiting_deletions_in_turns': { up: waitingDeletionsInTurns },
  '0095_comments': { up: comments },
  '0096_snapshot_schedules': { up: snapshotSchedules },
  '0097_role_assignments': { up: roleAssignments },
  '0098_console_codes': { up: consoleCodes },
  '0099_frame_rates': { up: frameRates },
  '0100_external_networks': { up: externalNetworks, transaction: false },
  '0102_lookup_indexes': { up: lookupIndexes, transaction: false },
  '0103_lookup_quarters': { up: lookupQuarters },
  '0104_second_factors': { up: secondFactors },
  '0105_sign_in_policies': { up: signInPolicies },
  '0106_wholesale_prices': { up: wholesalePrices },
  '0107_billing_parties': { up: billingParties },
  '0108_invoices': { up: invoices },
  '0110_mailed_links': { up: mailedLinks },
  '0111_token_bounds': { up: tokenBounds },
  '0112_single_sign_on': { up: singleSignOn },
  '0113_budgets': { up: budgets },
  '0114_worker_regions': { up: workerRegions },
  '0115_maintenance': { up: maintenance },
  '0116_observed': { up: observed, transaction: false },
  '0117_suspensions_and_usage': { up: suspensionsAndUsage },
  '0118_traffic': { up: traffic },
  '0119_traffic_of_days': { up: trafficOfDays, transaction: false },
  '0120_platform_routed': { up: platformRouted },
  '0121_refused_at_the_end': { up: refusedAtTheEnd },
  '0122_removals_nobody_awaits': { up: removalsNobodyAwaits },
  '0123_tasks_started': { up: tasksStarted },
};
