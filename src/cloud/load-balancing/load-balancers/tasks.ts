import { sql } from 'kysely';
import type * as specs from '../../../backends/contract/specs.ts';
import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import type { Transaction } from '../../../db/database.ts';
import type { HealthMonitor } from '../../../db/json-columns.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { type QuotaOwner, releaseQuotas } from '../../ground/quotas/service.ts';
import * as addresses from '../../network/addresses/in-transaction.ts';
import * as floatingIps from '../../network/floating-ips/service.ts';
import { letVipGo, lockVip } from '../../network/ports/of-load-balancers/in-transaction.ts';
import { MOST_IN_ALL } from './schema.ts';
import { deleteBalancer, lockForEnd } from './store.ts';
import { letTreeSecretsGo } from './tls.ts';
import { freeTree, readTrees, type Trees } from './tree/store.ts';
import { treeTasks } from './tree/tasks.ts';

interface Creation extends QuotaOwner {
  loadBalancerId: string;
  /** What the task makes, as it shows it. */
  created: Record<string, string[]>;
  floatingIpIds: string[];
}

interface Removal extends QuotaOwner {
  loadBalancerId: string;
}

export const CREATE = taskType<Creation>('create_loadbalancer');
export const DELETE = taskType<Removal>('delete_loadbalancer');

export function loadBalancerTasks(): TaskEnd[] {
  const create: TaskEnd<Creation> = {
    ...CREATE,
    async complete(tx, { id }, { loadBalancerId, created }) {
      await lockForEnd(tx, loadBalancerId);
      await floatingIps.settle(tx, id);
      await freeTree(tx, loadBalancerId, id);
      return created;
    },
    abandon: (tx, { id }, { loadBalancerId, floatingIpIds, ...owner }) =>
      removeRows(tx, id, loadBalancerId, { doomed: floatingIpIds, owner, unmade: true }),
  };

  const remove: TaskEnd<Removal> = {
    ...DELETE,
    removes: true,
    complete: (tx, { id }, { loadBalancerId, ...owner }) => removeRows(tx, id, loadBalancerId, { doomed: [], owner }),
  };

  return [create, remove, ...treeTasks()];
}

/** Locks rows in the same order as a creation, so that the two never wait for each other. */
async function removeRows(
  tx: Transaction,
  taskId: string,
  loadBalancerId: string,
  { doomed, owner, unmade }: { doomed: string[]; owner: QuotaOwner; unmade?: boolean },
): Promise<void> {
  await lockForEnd(tx, loadBalancerId);
  const vip = await lockVip(tx, loadBalancerId);
  if (!vip) return;
  // A floating IP that led to a reserved port before leads there afterwards, if the load balancer can't be made.
  const portIds = unmade && vip.reserved ? [] : [vip.id];
  const goneFloatingIps = await floatingIps.letGo(tx, taskId, { portIds, doomed });
  await letTreeSecretsGo(tx, loadBalancerId);
  const gonePort = await letVipGo(tx, vip);
  await deleteBalancer(tx, loadBalancerId);
  await addresses.release(tx, gonePort === undefined ? [] : [gonePort], goneFloatingIps);
  releaseQuotas(tx, owner, { floating_count: goneFloatingIps.length, loadbalancer_count: 1 });
}

/**
 * Returns the spec of a load balancer from its rows in the transaction. Parts that are to go are left out.
 * @throws ConflictError if there are too many
 */
export async function loadBalancerSpec(tx: Transaction, id: string): Promise<specs.LoadBalancerSpec> {
  const trees = await readTrees(tx.sql, [id]);
  refuseTooMany(id, trees);
  const { rows } = await sql<{ id: string }>`select id from ports where load_balancer_id = ${id}`.execute(tx.sql);
  const [port] = rows;
  if (!port) throw new TypeError('every load balancer has a port');
  return specOf(trees, port.id);
}

const NAMES = { members: 'members', policies: 'L7 policies', rules: 'L7 rules' };

function refuseTooMany(id: string, trees: Trees): void {
  for (const part of ['members', 'policies', 'rules'] as const) {
    const count = stays<{ provisioning_status: string }>(trees[part]).length;
    if (count <= MOST_IN_ALL[part]) continue;
    throw new ConflictError(
      `Load balancer ${id} would have ${count} ${NAMES[part]}; it may have ${MOST_IN_ALL[part]} over all its parts`,
    );
  }
}

export function specOf(trees: Trees, portId: string): specs.LoadBalancerSpec {
  const [balancer] = trees.balancers;
  if (!balancer) throw new TypeError('the load balancer was written before');
  const { logging } = balancer;
  const pools = stays(trees.pools);
  const isThere = (poolId: string | null) => pools.some(({ id }) => id === poolId);
  return {
    name: balancer.name,
    flavorId: balancer.flavor.flavor_id,
    portId,
    enabled: balancer.admin_state_up,
    connectivity: balancer.preferred_connectivity,
    failovers: balancer.failovers,
    ...(logging?.enabled &&
      logging.destination_region_id !== null &&
      logging.topic_name !== null && {
        logging: { destinationRegionId: logging.destination_region_id, topic: logging.topic_name },
      }),
    listeners: byId(stays(trees.listeners), (listener) =>
      listenerSpec(listener, trees, isThere(listener.default_pool_id)),
    ),
    pools: byId(pools, (pool) => poolSpec(pool, trees)),
    metadata: balancer.tags,
  };
}

function listenerSpec(listener: Trees['listeners'][number], trees: Trees, hasDefaultPool: boolean): specs.ListenerSpec {
  const policies = stays(trees.policies).filter(({ listener_id }) => listener_id === listener.id);
  return {
    name: listener.name,
    protocol: listener.protocol,
    port: listener.protocol_port,
    enabled: listener.admin_state_up,
    ...(hasDefaultPool && listener.default_pool_id !== null && { defaultPoolId: listener.default_pool_id }),
    connectionLimit: listener.connection_limit,
    forwardedHeaders: listener.insert_x_forwarded,
    // An empty list keeps nobody out, either.
    ...(listener.allowed_cidrs?.length && { allowedCidrs: listener.allowed_cidrs }),
    timeouts: timeoutsSpec(listener),
    ...(listener.secret_id !== null && {
      certificates: { secretId: listener.secret_id, furtherIds: listener.sni_secret_ids },
    }),
    users: Object.fromEntries(
      listener.user_list.map(({ username, encrypted_password }) => [username, encrypted_password]),
    ),
    policies: byId(policies, (policy) => policySpec(policy, trees)),
  };
}

function policySpec(policy: Trees['policies'][number], trees: Trees): specs.L7PolicySpec {
  const rules = stays(trees.rules).filter(({ l7_policy_id }) => l7_policy_id === policy.id);
  return {
    name: policy.name,
    position: policy.position,
    action: actionSpec(policy),
    rules: byId(rules, ({ type, compare_type: compare, key, value, invert }) => ({
      type,
      compare,
      ...(key !== null && { key }),
      value,
      invert,
    })),
  };
}

function actionSpec(policy: Trees['policies'][number]): specs.L7PolicySpec['action'] {
  const httpCode = policy.redirect_http_code ?? 302;
  switch (policy.action) {
    case 'REJECT':
      return { kind: 'reject' };
    case 'REDIRECT_TO_POOL':
      return { kind: 'redirect_to_pool', poolId: policy.redirect_pool_id ?? '' };
    case 'REDIRECT_TO_URL':
      return { kind: 'redirect_to_url', target: policy.redirect_url ?? '', httpCode };
    case 'REDIRECT_PREFIX':
      return { kind: 'redirect_prefix', target: policy.redirect_prefix ?? '', httpCode };
  }
}

function poolSpec(pool: Trees['pools'][number], trees: Trees): specs.PoolSpec {
  const { session_persistence: persistence, health_monitor: monitor } = pool;
  const members = stays(trees.members).filter(({ pool_id }) => pool_id === pool.id);
  return {
    name: pool.name,
    protocol: pool.protocol,
    algorithm: pool.lb_algorithm,
    enabled: pool.admin_state_up,
    ...(persistence && {
      persistence: {
        type: persistence.type,
        ...(persistence.cookie_name !== null && { cookieName: persistence.cookie_name }),
        ...(persistence.persistence_granularity !== null && {
          granularity: persistence.persistence_granularity,
        }),
        ...(persistence.persistence_timeout !== null && { timeout: persistence.persistence_timeout }),
      },
    }),
    timeouts: timeoutsSpec(pool),
    ...tlsSpec(pool),
    ...(monitor && { monitor: monitorSpec(monitor) }),
    members: byId(members, memberSpec),
  };
}

function tlsSpec({ secret_id, ca_secret_id, crl_secret_id }: Trees['pools'][number]): Pick<specs.PoolSpec, 'tls'> {
  const tls = {
    ...(secret_id !== null && { secretId: secret_id }),
    ...(ca_secret_id !== null && { authoritiesId: ca_secret_id }),
    ...(crl_secret_id !== null && { revokedId: crl_secret_id }),
  };
  return Object.keys(tls).length > 0 ? { tls } : {};
}

function monitorSpec(monitor: HealthMonitor): specs.MonitorSpec {
  const { http_method, url_path, expected_codes, http_version, domain_name } = monitor;
  const isHttp = monitor.type === 'HTTP' || monitor.type === 'HTTPS';
  return {
    type: monitor.type,
    enabled: monitor.admin_state_up,
    delay: monitor.delay,
    timeout: monitor.timeout,
    retries: monitor.max_retries,
    retriesDown: monitor.max_retries_down,
    ...(isHttp && {
      http: {
        ...(http_method !== null && { method: http_method }),
        ...(url_path !== null && { path: url_path }),
        ...(expected_codes !== null && { codes: expected_codes }),
        ...(http_version !== null && { version: http_version }),
        ...(domain_name !== null && { domain: domain_name }),
      },
    }),
  };
}

function memberSpec(member: Trees['members'][number]): specs.MemberSpec {
  return {
    address: member.address,
    port: member.protocol_port,
    ...(member.subnet_id !== null && { subnetId: member.subnet_id }),
    ...(member.instance_id !== null && { instanceId: member.instance_id }),
    weight: member.weight,
    backup: member.backup,
    enabled: member.admin_state_up,
    ...(member.monitor_address !== null && { monitorAddress: member.monitor_address }),
    ...(member.monitor_port !== null && { monitorPort: member.monitor_port }),
  };
}

function timeoutsSpec(row: {
  timeout_client_data: number | null;
  timeout_member_connect: number | null;
  timeout_member_data: number | null;
}): specs.PoolSpec['timeouts'] {
  const { timeout_client_data, timeout_member_connect, timeout_member_data } = row;
  return {
    ...(timeout_client_data !== null && { clientData: timeout_client_data }),
    ...(timeout_member_connect !== null && { memberConnect: timeout_member_connect }),
    ...(timeout_member_data !== null && { memberData: timeout_member_data }),
  };
}

function stays<Row extends { provisioning_status: string }>(rows: readonly Row[]): Row[] {
  return rows.filter(({ provisioning_status }) => provisioning_status !== 'PENDING_DELETE');
}

function byId<Row extends { id: string }, Spec>(rows: readonly Row[], spec: (row: Row) => Spec): Record<string, Spec> {
  return Object.fromEntries(rows.map((row) => [row.id, spec(row)]));
}
