import { isDeepStrictEqual } from 'node:util';
import type {
  L7PolicySpec,
  ListenerSpec,
  LoadBalancerSpec,
  MonitorSpec,
  PoolSpec,
} from '../../src/backends/contract/specs.ts';
import { digestOf } from '../resource.ts';

/* The parts of a load balancer as Octavia has them. */

/** Null stands for "none", undefined for what Octavia chooses. */
export type Fields = Readonly<Record<string, unknown>>;

/** A part as it should be. */
export interface Part {
  /** What finds it again. */
  mark: string;
  /** What can't change: for something else there, a new part is made. */
  fixed: Fields;
  fields: Fields;
}

/** A part as it is. */
export type LivePart = Fields & { id: string; tags: string[] };

type PartKind = 'healthmonitor' | 'l7policy' | 'listener' | 'pool' | 'rule';

export const partOf = (kind: PartKind, id: string, fixed: Fields, fields: Fields): Part => ({
  mark: `tradewind-${kind}-${id}`,
  fixed,
  fields,
});

/**
 * Returns what a part is told to be. Octavia fills in what is left out, so a tag says what it was told; but not the position, which
 * Octavia changes when others come and go.
 */
export function bodyOf({ mark, fields }: Part, balancer: string): Fields & { tags: string[] } {
  const { position: _, ...told } = fields;
  return { ...fields, tags: [mark, balancer, `tradewind-as-${digestOf(told)}`] };
}

export const isPart = ({ mark, fixed }: Part, live: LivePart): boolean =>
  live.tags.includes(mark) && hasFields(live, fixed);

/** Whether Octavia failed at the last order. The load balancer works without the part. */
export const isBroken = ({ provisioning_status }: Fields): boolean => provisioning_status === 'ERROR';

/** Whether it was told what is wanted and has done it, and nobody has changed it since. */
export const isAsWanted = (part: Part, live: LivePart, balancer: string): boolean =>
  !isBroken(live) &&
  bodyOf(part, balancer).tags.every((tag) => live.tags.includes(tag)) &&
  hasFields(live, part.fields);

export const hasFields = (live: Fields, fields: Fields): boolean =>
  Object.entries(fields).every(
    ([name, value]) => value === undefined || isDeepStrictEqual(comparable(live[name] ?? null), comparable(value)),
  );

/** Lists of texts are sets to Octavia. */
const comparable = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(String).toSorted((one, other) => one.localeCompare(other)) : value;

/** Finds the cloud's IDs of what parts refer to. Something that isn't there yet is waited for. */
export interface CloudIds {
  secret(id: string): Promise<string>;
  subnet(id: string): Promise<string | undefined>;
}

export async function poolPart(id: string, pool: PoolSpec, { secret }: CloudIds): Promise<Part> {
  const { persistence: kept, tls } = pool;
  const fields = {
    name: pool.name,
    admin_state_up: pool.enabled,
    lb_algorithm: pool.algorithm,
    session_persistence: kept
      ? {
          type: kept.type,
          cookie_name: kept.cookieName ?? null,
          persistence_timeout: kept.timeout ?? null,
          persistence_granularity: kept.granularity ?? null,
        }
      : null,
    tls_enabled: tls !== undefined,
    tls_container_ref: tls?.secretId === undefined ? null : await secret(tls.secretId),
    ca_tls_container_ref: tls?.authoritiesId === undefined ? null : await secret(tls.authoritiesId),
    crl_container_ref: tls?.revokedId === undefined ? null : await secret(tls.revokedId),
  };
  return partOf('pool', id, { protocol: pool.protocol }, fields);
}

export function monitorPart(poolId: string, monitor: MonitorSpec): Part {
  const { http } = monitor;
  const http_version = http?.version === undefined ? undefined : Number(http.version);
  const fields = {
    admin_state_up: monitor.enabled,
    delay: monitor.delay,
    timeout: monitor.timeout,
    max_retries: monitor.retries,
    max_retries_down: monitor.retriesDown,
    ...(http && {
      http_method: http.method,
      url_path: http.path,
      expected_codes: http.codes,
      http_version,
      domain_name: http.domain,
    }),
  };
  // Fixed, as Octavia checks a new version against the former domain name.
  return partOf('healthmonitor', poolId, { type: monitor.type, http_version }, fields);
}

/** Members have no tags: their names are our IDs, as only those are in Octavia's tree of statuses. */
export const membersOf = (
  { connectivity }: Pick<LoadBalancerSpec, 'connectivity'>,
  { members }: PoolSpec,
  { subnet }: CloudIds,
): Promise<Fields[]> =>
  Promise.all(
    Object.entries(members).map(async ([name, member]) => {
      const isRouted = connectivity === 'L3' && member.instanceId !== undefined;
      const subnetId = isRouted ? undefined : member.subnetId;
      return {
        name,
        address: member.address,
        protocol_port: member.port,
        subnet_id: subnetId === undefined ? null : ((await subnet(subnetId)) ?? null),
        weight: member.weight,
        backup: member.backup,
        admin_state_up: member.enabled,
        monitor_address: member.monitorAddress ?? null,
        monitor_port: member.monitorPort ?? null,
      };
    }),
  );

const FORWARDED = { 'X-Forwarded-For': 'true', 'X-Forwarded-Port': 'true', 'X-Forwarded-Proto': 'true' };

/** Octavia has no timeouts of pools: those of the default pool count where the listener has none. */
export async function listenerPart(
  id: string,
  listener: ListenerSpec,
  { pools }: Pick<LoadBalancerSpec, 'pools'>,
  default_pool_id: string | null,
  { secret }: CloudIds,
): Promise<Part> {
  const timeouts = { ...pools[listener.defaultPoolId ?? '']?.timeouts, ...listener.timeouts };
  const { certificates } = listener;
  const fields = {
    name: listener.name,
    admin_state_up: listener.enabled,
    connection_limit: listener.connectionLimit,
    default_pool_id,
    insert_headers: listener.forwardedHeaders ? FORWARDED : {},
    allowed_cidrs: listener.allowedCidrs ?? null,
    timeout_client_data: timeouts.clientData,
    timeout_member_connect: timeouts.memberConnect,
    timeout_member_data: timeouts.memberData,
    default_tls_container_ref: certificates ? await secret(certificates.secretId) : null,
    sni_container_refs: await Promise.all((certificates?.furtherIds ?? []).map(secret)),
  };
  return partOf('listener', id, { protocol: listener.protocol, protocol_port: listener.port }, fields);
}

type PoolIdOf = (id: string) => string | null;

/** `position` is the place among the policies of the listener, from 1. */
export function policyPart(
  id: string,
  { name, action }: L7PolicySpec,
  { position, listener_id, poolIdOf }: { position: number; listener_id: string | undefined; poolIdOf: PoolIdOf },
): Part {
  return partOf('l7policy', id, { listener_id }, { name, position, ...actionOf(action, poolIdOf) });
}

function actionOf(action: L7PolicySpec['action'], poolIdOf: PoolIdOf): Fields {
  switch (action.kind) {
    case 'reject':
      return { action: 'REJECT' };
    case 'redirect_to_pool':
      return { action: 'REDIRECT_TO_POOL', redirect_pool_id: poolIdOf(action.poolId) };
    case 'redirect_to_url':
      return { action: 'REDIRECT_TO_URL', redirect_url: action.target, redirect_http_code: action.httpCode };
    case 'redirect_prefix':
      return { action: 'REDIRECT_PREFIX', redirect_prefix: action.target, redirect_http_code: action.httpCode };
  }
}

export const rulePart = (id: string, rule: L7PolicySpec['rules'][string]): Part =>
  partOf(
    'rule',
    id,
    {},
    {
      type: rule.type,
      compare_type: rule.compare,
      key: rule.key ?? null,
      value: rule.value,
      invert: rule.invert,
    },
  );
