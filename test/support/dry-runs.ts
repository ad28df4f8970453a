import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Answer, HttpClient } from './http-client.ts';
import type { DocumentedOperation } from './openapi.ts';

const CHANGING = ['POST', 'PUT', 'PATCH', 'DELETE'];
export const DRY_RUN = { 'tradewind-dry-run': 'true' };
/** What changes by itself. */
const OWN_LIFE = [
  'api_tokens',
  'audit_retention',
  'audit_seals',
  'budgets',
  'catalog_readers',
  'event_readers',
  'known_logins',
  'login_limits',
  'login_sessions',
  'removal_time',
  'suspension_turns',
  'traffic_meters',
  'usage_closings',
  'webhook_deliveries',
  'webhook_sending',
  'workers',
];
/** A password that is given counts as a guess. What was done before is noted a moment later. */
const COUNTED = ['login_attempts', 'user_actions'];
const QUIET_WITHIN_MS = 3_000;

export interface DryRunTrial {
  /** Returns a client that tries out the first change of each operation before it makes it. */
  trying(http: HttpClient): HttpClient;
  /** Operations whose dry run said what the change then did, by title. */
  agreed(): Set<string>;
  /** Where the two did not agree, or something was left of a dry run. */
  faults(): string[];
  /** How many dry runs were looked for in the whole database. */
  lookedFor(): number;
}

/** Compares dry runs with the changes that follow. */
export function createDryRunTrial(
  find: (method: string, path: string) => DocumentedOperation | undefined,
  pool: () => pg.Pool,
): DryRunTrial {
  const agreed = new Set<string>();
  const faults: string[] = [];
  let lookedFor = 0;

  async function tried(http: HttpClient, ...[method, path, options]: Parameters<HttpClient['request']>) {
    const before = await quiet(pool());
    const headers = { ...options?.headers, ...DRY_RUN };
    const answer = await http.request(method, path, { ...options, headers });
    if (before !== undefined) {
      lookedFor++;
      const changed = differing(before, await contentOf(pool()));
      if (changed.length > 0) faults.push(`${method} ${path}: a dry run left something in ${changed.join(', ')}`);
    }
    return answer;
  }

  return {
    trying(http) {
      const request: HttpClient['request'] = async (method, path, options) => {
        const of = find(method, path);
        const alike = of && agreed.has(of.title);
        if (!CHANGING.includes(method) || !of || alike || of.operation.security?.length === 0) {
          return http.request(method, path, options);
        }
        const dry = await tried(http, method, path, options);
        const real = await http.request(method, path, options);
        const fault = disagreement(dry, real);
        if (fault !== undefined) faults.push(`${of.title} ${fault}`);
        else if (real.status < 300) agreed.add(of.title);
        return real;
      };
      return { ...http, request, post: (path, body) => request('POST', path, { body }) };
    },
    agreed: () => agreed,
    faults: () => faults,
    lookedFor: () => lookedFor,
  };
}

function disagreement(dry: Answer, real: Answer): string | undefined {
  if (real.status < 300) {
    return dry.status === 200 ? undefined : `would be refused with ${dry.status}, but is done: ${dry.text}`;
  }
  const same = dry.status === real.status && comparable(dry) === comparable(real);
  return same ? undefined : `is refused with ${real.status} ${real.text}, but a dry run said ${dry.status} ${dry.text}`;
}

/** Without what differs in each answer. */
function comparable({ text }: Answer): string {
  return text.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, '<id>');
}

/** Returns what is in the database once nothing is being done; undefined if something always is. */
async function quiet(pool: pg.Pool): Promise<Map<string, string> | undefined> {
  const end = Date.now() + QUIET_WITHIN_MS;
  let last = await contentOf(pool);
  while (Date.now() < end) {
    const { rows } = await pool.query(
      `select from wants where settled_generation is distinct from generation or due_at < now() + interval '5 seconds'
       union all select from mails where ended_at is null limit 1`,
    );
    const now = await contentOf(pool);
    if (rows.length === 0 && differing(last, now).length === 0) return now;
    last = now;
    await sleep(20);
  }
  return undefined;
}

function differing(one: Map<string, string>, other: Map<string, string>): string[] {
  return [...one.keys()].filter((table) => one.get(table) !== other.get(table));
}

const contentQueries = new WeakMap<pg.Pool, string>();

/** Returns for each table how many rows it has, and the sum of the IDs of the transactions that wrote them. */
async function contentOf(pool: pg.Pool): Promise<Map<string, string>> {
  const text = contentQueries.get(pool) ?? (await contentQuery(pool));
  contentQueries.set(pool, text);
  // Named, so that it is planned only once: planning a query over all tables takes longer than running it.
  const { rows } = await pool.query<{ name: string; sum: string }>({ name: 'content', text });
  return new Map(rows.map(({ name, sum }) => [name, sum]));
}

async function contentQuery(pool: pg.Pool): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relkind in ('r', 'p') and not relispartition
     and relnamespace = 'public'::regnamespace and relname <> all($1) order by relname`,
    [[...OWN_LIFE, ...COUNTED]],
  );
  const sums = tables.map(
    ({ name }) =>
      `select '${name}' as name, count(*) || ' ' || coalesce(sum(xmin::text::bigint), 0) as sum from "${name}"`,
  );
  return sums.join(' union all ');
}
