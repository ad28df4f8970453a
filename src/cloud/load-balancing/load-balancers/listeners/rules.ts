import type { ListenerUser } from '../../../../db/json-columns.ts';
import { canonicalCidr, hostBitsFault } from '../../../../lib/cidr.ts';
import type { FieldProblem } from '../../../../lib/errors.ts';
import { familyOf } from '../../../../lib/ip-addresses.ts';
import type { PoolProtocol } from '../pools/schema.ts';
import type { ListenerProtocol } from './schema.ts';

/** As published. The endpoint for Prometheus doesn't count. */
export const MAX_LISTENERS = 50;
export const DEFAULT_CONNECTION_LIMIT = 100_000;

/** Which protocols of pools a listener can send traffic to: Octavia's table of valid combinations. */
const POOLS: Record<ListenerProtocol, readonly PoolProtocol[]> = {
  HTTP: ['HTTP', 'PROXY', 'PROXYV2'],
  HTTPS: ['HTTPS', 'PROXY', 'PROXYV2', 'TCP'],
  PROMETHEUS: [],
  TCP: ['HTTP', 'HTTPS', 'PROXY', 'PROXYV2', 'TCP'],
  TERMINATED_HTTPS: ['HTTP', 'HTTPS', 'PROXY', 'PROXYV2'],
  UDP: ['UDP'],
};
/** Those that read HTTP. */
const READS_HTTP: readonly ListenerProtocol[] = ['HTTP', 'TERMINATED_HTTPS'];
const HAS_CERTIFICATES: readonly ListenerProtocol[] = ['TERMINATED_HTTPS', 'PROMETHEUS'];
const HAS_USERS: readonly ListenerProtocol[] = [...READS_HTTP, 'PROMETHEUS'];

export const readsHttp = (protocol: ListenerProtocol): boolean => READS_HTTP.includes(protocol);

/** Returns why the listener can't send traffic to a pool of this protocol; undefined if it can. */
export function poolMisfit(listener: ListenerProtocol, pool: PoolProtocol): string | undefined {
  const fitting = POOLS[listener];
  if (fitting.includes(pool)) return undefined;
  return fitting.length === 0
    ? `${listener} listeners have no pools.`
    : `${listener} listeners can't use ${pool} pools; the pool's protocol must be one of: ${fitting.join(', ')}.`;
}

/** Returns the problems of a listener, new or changed. `at` is the prefix of its fields in the request. */
export function listenerProblems(
  listener: {
    protocol: ListenerProtocol;
    insert_x_forwarded: boolean;
    user_list: readonly ListenerUser[];
    secret_id: string | null;
    sni_secret_ids: readonly string[];
  },
  at: string,
): FieldProblem[] {
  const { protocol, insert_x_forwarded, user_list: users } = listener;
  const problems: FieldProblem[] = [];
  if (insert_x_forwarded && !readsHttp(protocol)) {
    const message = `Is only for ${READS_HTTP.join(' and ')} listeners; leave it out.`;
    problems.push({ field: `${at}insert_x_forwarded`, message });
  }
  if (users.length > 0 && !HAS_USERS.includes(protocol)) {
    const message = `Is only for ${HAS_USERS.join(', ')} listeners; leave it out.`;
    problems.push({ field: `${at}user_list`, message });
  }
  if (HAS_CERTIFICATES.includes(protocol)) {
    const needed = protocol === 'TERMINATED_HTTPS' || listener.sni_secret_ids.length > 0;
    if (needed && listener.secret_id === null) {
      const message =
        protocol === 'TERMINATED_HTTPS'
          ? 'Is required for a TERMINATED_HTTPS listener.'
          : 'Is required with sni_secret_id.';
      problems.push({ field: `${at}secret_id`, message });
    }
  } else {
    const message = `Is only for ${HAS_CERTIFICATES.join(' and ')} listeners; leave it out.`;
    if (listener.secret_id !== null) problems.push({ field: `${at}secret_id`, message });
    if (listener.sni_secret_ids.length > 0) problems.push({ field: `${at}sni_secret_id`, message });
  }
  for (const [index, { username }] of users.entries()) {
    if (users.findIndex((one) => one.username === username) === index) continue;
    problems.push({ field: `${at}user_list.${index}.username`, message: 'Is listed twice.' });
  }
  return problems;
}

/**
 * Returns the problems of ranges from which nobody can connect, since no virtual address has their family. Octavia
 * refuses them as well (api/v2/controllers/listener.py, `_validate_cidr_compatible_with_vip`).
 */
export function rangeFamilyProblems(
  ranges: readonly string[] | null,
  virtualAddresses: readonly string[],
  field: string,
): FieldProblem[] {
  const families = new Set(virtualAddresses.map(familyOf));
  return (ranges ?? []).flatMap((range, index) => {
    const family = familyOf(range.replace(/\/\d+$/, ''));
    if (families.has(family)) return [];
    const message = `Is an ${family} range, but the load balancer only has the address ${virtualAddresses.join(', ')}.`;
    return [{ field: `${field}.${index}`, message }];
  });
}

/** Returns the ranges in their canonical form, each once, and adds the problems of the others. */
export function canonicalRanges(
  given: readonly string[] | null,
  field: string,
  problems: FieldProblem[],
): string[] | null {
  if (given === null) return null;
  const ranges = given.flatMap((text, index) => {
    const range = canonicalCidr(text);
    const fault = range ? hostBitsFault(range) : 'Must be a range such as 10.0.0.0/24, or an address such as 10.0.0.5.';
    if (range && fault === undefined) return [range.network];
    problems.push({ field: `${field}.${index}`, message: fault ?? '' });
    return [];
  });
  return [...new Set(ranges)];
}
