import { isIP } from 'node:net';
import type { HealthMonitor, SessionPersistence } from '../../../../db/json-columns.ts';
import { canonicalAddress } from '../../../../lib/cidr.ts';
import type { FieldProblem } from '../../../../lib/errors.ts';
import { newId } from '../../../../lib/ids.ts';
import type { ChangeHealthMonitor, CreateMember, PersistenceInput, PoolProtocol, UpdateMember } from './schema.ts';

/** Cookies need a pool whose requests are read. */
const WITH_COOKIES: readonly PoolProtocol[] = ['HTTP', 'PROXY', 'PROXYV2'];
/** Octavia's `reserved_ips`: no member has such an address. */
const RESERVED_ADDRESSES = ['169.254.169.254'];
const HTTP_FIELDS = ['http_method', 'http_version', 'url_path', 'expected_codes', 'domain_name'] as const;

/** Returns the persistence that a request asks for, and adds its problems. Rules as in Octavia. */
export function persistenceOf(
  given: PersistenceInput | null,
  protocol: PoolProtocol,
  at: string,
  problems: FieldProblem[],
): SessionPersistence | null {
  if (!given) return null;
  const complain = (name: string, message: string) => void problems.push({ field: `${at}.${name}`, message });
  const { type, cookie_name = null, persistence_granularity = null, persistence_timeout = null } = given;
  const byCookie = type !== 'SOURCE_IP';
  if (byCookie && !WITH_COOKIES.includes(protocol)) {
    complain('type', `${protocol} pools can't use cookies; use SOURCE_IP.`);
  }
  if (type === 'APP_COOKIE' && cookie_name === null) complain('cookie_name', 'Is required for APP_COOKIE.');
  if (!byCookie && cookie_name !== null)
    complain('cookie_name', 'Is only for APP_COOKIE and HTTP_COOKIE; leave it out.');
  if (protocol !== 'UDP' || byCookie) {
    const message = 'Is only for SOURCE_IP in UDP pools; leave it out.';
    if (persistence_granularity !== null) complain('persistence_granularity', message);
    if (persistence_timeout !== null) complain('persistence_timeout', message);
  } else if (persistence_granularity !== null && isIP(persistence_granularity) === 0) {
    complain('persistence_granularity', 'Must be a subnet mask such as 255.255.255.0.');
  }
  return { type, cookie_name, persistence_granularity, persistence_timeout };
}

/** Returns the secrets that a request names, and adds their problems. What is left out stays. */
export function poolSecretsOf(
  given: { [Field in keyof PoolSecrets]?: string | null },
  current: PoolSecrets,
  protocol: PoolProtocol,
  at: string,
  problems: FieldProblem[],
): PoolSecrets {
  const idOf = (field: keyof PoolSecrets) =>
    given[field] === undefined ? current[field] : (given[field]?.toLowerCase() ?? null);
  const secrets = {
    secret_id: idOf('secret_id'),
    ca_secret_id: idOf('ca_secret_id'),
    crl_secret_id: idOf('crl_secret_id'),
  };
  if (protocol !== 'HTTP' && protocol !== 'HTTPS') {
    for (const field of Object.keys(secrets) as (keyof PoolSecrets)[]) {
      if (secrets[field] === null) continue;
      problems.push({ field: `${at}${field}`, message: 'Is only for HTTP and HTTPS pools; leave it out.' });
    }
  } else if (secrets.crl_secret_id !== null && secrets.ca_secret_id === null) {
    problems.push({ field: `${at}ca_secret_id`, message: 'Is required with crl_secret_id.' });
  }
  return secrets;
}

interface PoolSecrets {
  secret_id: string | null;
  ca_secret_id: string | null;
  crl_secret_id: string | null;
}
export const NO_SECRETS: PoolSecrets = { secret_id: null, ca_secret_id: null, crl_secret_id: null };

/** Returns the monitor that a request asks for, and adds its problems. `current` is the pool's, if it has one. */
export function monitorOf(
  given: ChangeHealthMonitor,
  current: HealthMonitor | null,
  protocol: PoolProtocol,
  at: string,
  problems: FieldProblem[],
): HealthMonitor {
  const type = given.type ?? current?.type;
  problems.push(...monitorProblems(given, type, current, protocol, at));
  return {
    id: current?.id ?? newId(),
    type: type ?? 'TCP',
    admin_state_up: given.admin_state_up ?? true,
    delay: given.delay,
    timeout: given.timeout,
    max_retries: given.max_retries,
    max_retries_down: given.max_retries_down ?? 3,
    http_method: given.http_method ?? null,
    http_version: given.http_version ?? null,
    url_path: given.url_path ?? null,
    expected_codes: given.expected_codes ?? null,
    domain_name: given.domain_name ?? null,
  };
}

function monitorProblems(
  given: ChangeHealthMonitor,
  type: HealthMonitor['type'] | undefined,
  current: HealthMonitor | null,
  protocol: PoolProtocol,
  at: string,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const complain = (name: string, message: string) => void problems.push({ field: `${at}${name}`, message });
  if (type === undefined) complain('type', 'Is required for a pool without a health monitor.');
  else if (current && type !== current.type) {
    complain('type', `Is ${current.type} and can't be changed; delete the monitor and create another one.`);
  } else if (!fits(type, protocol)) {
    const fitting = protocol === 'UDP' ? 'HTTP, TCP or UDP-CONNECT' : 'another type than UDP-CONNECT';
    complain('type', `${protocol} pools need ${fitting}.`);
  }
  if (given.timeout >= given.delay) complain('timeout', 'Must be less than delay.');
  if (type === 'HTTP' || type === 'HTTPS') {
    if ((given.domain_name ?? null) !== null && given.http_version !== '1.1') {
      complain('http_version', 'Must be 1.1 with domain_name.');
    }
    return problems;
  }
  for (const name of HTTP_FIELDS) {
    if ((given[name] ?? null) !== null) complain(name, 'Is only for HTTP and HTTPS monitors; leave it out.');
  }
  return problems;
}

/** As in Octavia, services on other ports may tell how a UDP member is. */
function fits(type: HealthMonitor['type'], protocol: PoolProtocol): boolean {
  return protocol === 'UDP' ? ['HTTP', 'TCP', 'UDP-CONNECT'].includes(type) : type !== 'UDP-CONNECT';
}

/** A member as a request asks for it, with canonical addresses. */
export type WantedMember = ReturnType<typeof memberOf>;

export function memberOf(given: CreateMember, at: string, problems: FieldProblem[]) {
  const { subnet_id = null, instance_id = null, monitor_address = null } = given;
  const address = canonical(given.address, `${at}address`, problems);
  if (RESERVED_ADDRESSES.includes(address)) {
    const message = `${address} is where machines read their metadata; it can't be a member.`;
    problems.push({ field: `${at}address`, message });
  }
  return {
    at,
    address,
    protocol_port: given.protocol_port,
    subnet_id: subnet_id?.toLowerCase() ?? null,
    instance_id: instance_id?.toLowerCase() ?? null,
    weight: given.weight ?? 1,
    backup: given.backup ?? false,
    admin_state_up: given.admin_state_up ?? true,
    monitor_address: canonicalOrNull(monitor_address, `${at}monitor_address`, problems),
    monitor_port: given.monitor_port ?? null,
  };
}

function canonical(text: string, field: string, problems: FieldProblem[]): string {
  const address = canonicalAddress(text)?.address;
  if (address === undefined) problems.push({ field, message: 'Must be an IP address such as 10.0.0.5.' });
  return address ?? text;
}

const canonicalOrNull = (text: string | null, field: string, problems: FieldProblem[]) =>
  text === null ? null : canonical(text, field, problems);

/** Returns the columns of a member after a request, and adds their problems. A field that is left out stays. */
export function changedMember(member: Changeable, request: UpdateMember, problems: FieldProblem[]) {
  const { monitor_address: asked } = request;
  return {
    weight: request.weight ?? member.weight,
    backup: request.backup ?? member.backup,
    admin_state_up: request.admin_state_up ?? member.admin_state_up,
    monitor_address: asked === undefined ? member.monitor_address : canonicalOrNull(asked, 'monitor_address', problems),
    monitor_port: request.monitor_port === undefined ? member.monitor_port : request.monitor_port,
  };
}
type Changeable = Pick<WantedMember, 'weight' | 'backup' | 'admin_state_up' | 'monitor_address' | 'monitor_port'>;

/** Returns the members of a request. An address and port may be listed once. `at` is the prefix of their fields. */
export function membersOf(given: readonly CreateMember[], at: string, problems: FieldProblem[]): WantedMember[] {
  const members = given.map((member, index) => memberOf(member, `${at}${index}.`, problems));
  const key = ({ address, protocol_port }: WantedMember) => `${address} ${protocol_port}`;
  for (const [index, member] of members.entries()) {
    if (members.findIndex((one) => key(one) === key(member)) === index) continue;
    const message = `Is a duplicate of ${member.address} with port ${member.protocol_port}; send each once.`;
    problems.push({ field: `${at}${index}.address`, message });
  }
  return members;
}
