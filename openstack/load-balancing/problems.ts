import type { L7PolicySpec, LoadBalancerSpec, MonitorSpec, PoolSpec } from '../../src/backends/contract/specs.ts';
import type { FieldProblem } from '../../src/lib/errors.ts';

/* What our API takes and Octavia refuses, by its own rules. */

const CODES = /^(?:\d{3}(?:\s*,\s*\d{3})*|\d{3}-\d{3})$/;
const COOKIE_NAME = /^[^\s,;\\]+$/;
const LABEL = /^[A-Za-z0-9_-]{1,63}$/;
const MOST_LETTERS = 253;
/** In seconds. */
const SHORTEST_UDP_DELAY = 3;

/** Returns what of a load balancer Octavia can't do. */
export function problemsOf({ listeners, pools, logging }: LoadBalancerSpec): FieldProblem[] {
  const problems: FieldProblem[] = logging ? [problem('logging', 'sends no logs of load balancers; leave it out')] : [];
  for (const { policies, protocol, defaultPoolId, users } of Object.values(listeners)) {
    if (Object.keys(users).length > 0)
      problems.push(problem('user_list', "can't ask users for a password; leave it out"));
    const all = Object.values(policies);
    problems.push(...all.flatMap(redirectProblems));
    const used = [defaultPoolId, ...all.map(({ action }) => (action.kind === 'redirect_to_pool' ? action.poolId : ''))];
    if (protocol === 'TERMINATED_HTTPS' && used.some((id) => pools[id ?? '']?.protocol === 'HTTPS'))
      problems.push(
        problem('protocol', "can't lead a TERMINATED_HTTPS listener to an HTTPS pool; make the pool HTTP or PROXY"),
      );
  }
  for (const { monitor, persistence } of Object.values(pools)) {
    if (monitor) problems.push(...monitorProblems(monitor));
    if (persistence) problems.push(...persistenceProblems(persistence));
  }
  return problems;
}

const problem = (field: string, what: string): FieldProblem => ({
  field,
  message: `The cloud of this region ${what}.`,
});

function redirectProblems({ action }: L7PolicySpec): FieldProblem[] {
  if (action.kind !== 'redirect_to_url' && action.kind !== 'redirect_prefix') return [];
  const { kind, target } = action;
  const url = /\s/.test(target) ? null : URL.parse(target);
  if (url && /^https?:$/.test(url.protocol)) return [];
  const field = kind === 'redirect_to_url' ? 'redirect_url' : 'redirect_prefix';
  return [problem(field, 'redirects to addresses that begin with http:// or https:// and have no spaces')];
}

/** An underscore may only begin a label. */
const isDomain = (name: string): boolean =>
  name.length <= MOST_LETTERS &&
  name
    .replace(/\.$/, '')
    .split('.')
    .every((label) => LABEL.test(label) && !/^-|-$/.test(label) && label.lastIndexOf('_') <= 0);

function monitorProblems({ type, delay, http }: MonitorSpec): FieldProblem[] {
  const { codes, domain } = http ?? {};
  return [
    ...(type === 'K8S' ? [problem('type', 'has no health monitors of the type K8S')] : []),
    ...(type === 'UDP-CONNECT' && delay < SHORTEST_UDP_DELAY
      ? [problem('delay', `can't check by UDP-CONNECT more often than every ${SHORTEST_UDP_DELAY} seconds`)]
      : []),
    ...(codes !== undefined && !CODES.test(codes)
      ? [problem('expected_codes', 'takes a list such as 200,202, or one range such as 200-204')]
      : []),
    ...(domain !== undefined && !isDomain(domain) ? [problem('domain_name', "doesn't take this host name")] : []),
  ];
}

function persistenceProblems({ type, cookieName }: NonNullable<PoolSpec['persistence']>): FieldProblem[] {
  if (cookieName === undefined) return [];
  if (type !== 'APP_COOKIE') return [problem('cookie_name', 'takes the name of a cookie only with APP_COOKIE')];
  return COOKIE_NAME.test(cookieName) ? [] : [problem('cookie_name', "doesn't take this cookie name")];
}
