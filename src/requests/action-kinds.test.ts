import { expect, it } from 'vitest';
import { documentedOperations } from '../../test/support/openapi.ts';
import { kindOf } from './action-of.ts';

/** Changes in the cloud area that the published log doesn't contain, with the reason. */
const NO_ACTION: Record<string, string> = {
  cancelTask: 'a task is no resource there',
  acknowledgeTask: 'a task is no resource there',
  acknowledgeTasks: 'a task is no resource there',
  acknowledgeAllTasks: 'a task is no resource there',
  subscribeToUserActions: 'the log does not log itself',
  unsubscribeFromUserActions: 'the log does not log itself',
  subscribeToUserActionsByAmqp: 'is always refused',
  changeRegionalQuotas: 'quotas are no resource there',
  changeGlobalQuotas: 'quotas are no resource there',
  setQuotaThreshold: 'quotas are no resource there',
  deleteQuotaThreshold: 'quotas are no resource there',
  tryAmqp: 'is always refused',
  updateAmqpSubscription: 'is always refused',
  unsubscribeFromUserActionsByAmqp: 'does nothing',
};
/** Operations that only ask something, although they use POST. */
const ASKS = /\/(pricing|(reservation_)?cost_report|usage_report|check_limits|available_flavors|metrics)(\/|$)/;

const changes = (await documentedOperations()).filter(
  ({ method, path }) => method !== 'GET' && path.startsWith('/cloud/') && !ASKS.test(path),
);
const routeOf = (path: string) => path.replace(/\{([^}]+)\}/g, ':$1');

it('each change in the cloud area is of a kind, but for those with a reason', () => {
  const without = changes.filter(({ method, path }) => kindOf(method, routeOf(path), { action: 'stop' }) === undefined);
  const reasoned = changes.filter(({ operation }) => operation.operationId in NO_ACTION);
  expect(changes.length).toBeGreaterThan(250);
  expect(without.map(({ title }) => title)).toEqual(reasoned.map(({ title }) => title));
});

const V1 = '/cloud/v1';
it.each([
  ['POST', '/cloud/v2/k8s/clusters/:project_id/:region_id', 'k8s_cluster', 'create'],
  ['POST', '/cloud/v2/k8s/clusters/:project_id/:region_id/:cluster_name/pools', 'k8s_pool', 'create'],
  ['POST', '/cloud/v2/k8s/clusters/:project_id/:region_id/:cluster_name/pools/:pool_name/resize', 'k8s_pool', 'resize'],
  [
    'DELETE',
    '/cloud/v2/k8s/clusters/:project_id/:region_id/:cluster_name/instances/:instance_id',
    'k8s_cluster',
    'replace',
  ],
  ['POST', '/cloud/v2/k8s/clusters/:project_id/:region_id/:cluster_name/upgrade', 'k8s_cluster', 'upgrade'],
  ['POST', `${V1}/securitygroups/:project_id/:region_id/:group_id/rules`, 'securitygrouprule', 'create'],
  ['PUT', `${V1}/securitygrouprules/:project_id/:region_id/:rule_id`, 'securitygrouprule', 'replace'],
  ['PUT', `${V1}/volumes/:project_id/:region_id/:volume_id/metadata`, 'volume', 'replace_metadata'],
  ['DELETE', `${V1}/instances/:project_id/:region_id/:instance_id/metadata/:key`, 'instance', 'delete_metadata'],
  ['POST', `${V1}/volumes/:project_id/:region_id/:volume_id/extend`, 'volume', 'resize'],
  ['POST', `${V1}/instances/:project_id/:region_id/:instance_id/powercycle`, 'instance', 'reboot_hard'],
  ['POST', `${V1}/file_shares/:project_id/:region_id/:file_share_id/access_rule`, 'file_shares', 'create_access_rule'],
  ['PUT', `${V1}/reserved_fixed_ips/:project_id/:region_id/:port_id/connected_devices`, 'vip_ip_addresses', 'replace'],
  ['POST', `${V1}/reserved_fixed_ips/:project_id/:region_id/:port_id/convert`, 'reserved_fixed_ip', 'replace'],
  ['PATCH', `${V1}/projects/:project_id`, 'project', 'update'],
])('%s %s is %s, %s', (method, route, group, type) => {
  expect(kindOf(method, route)).toMatchObject({ group, type });
});

it.each(['start', 'stop', 'reboot', 'reboot_hard', 'suspend', 'resume'])('an action of an instance is %s', (action) => {
  const route = '/cloud/v2/instances/:project_id/:region_id/:instance_id/action';
  expect(kindOf('POST', route, { action })).toMatchObject({ group: 'instance', type: action });
  expect(kindOf('POST', route, undefined)).toBeUndefined();
});

it.each([
  ['POST', '/iam/users'],
  ['POST', '/streaming/ai/tasks'],
  ['POST', '/cloud/v1/unknown/:project_id'],
])('%s %s is of none', (method, route) => {
  expect(kindOf(method, route)).toBeUndefined();
});
