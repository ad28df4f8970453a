import type pg from 'pg';
import type { Api } from '../support/api.ts';

/** An account, as its administrator calls a process. */
export interface Account {
  clientId: number;
  projectId: number;
  token: string;
}

/** A request that is sent again and again. A random text takes the place of each UNIQUE. */
export interface Shot {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export const UNIQUE = 'unique-text';

interface Ground {
  api: Api;
  database: pg.Pool;
  attacker: Account;
}

export interface Attack {
  name: string;
  atOnce: number;
  /** Makes what the attack needs, and returns what is sent, in turn. */
  prepare(ground: Ground): Promise<Shot[]>;
}

/** More than the dearest page of a list, and than is kept in memory. */
const LOG_ROWS = 21_000;
const EVENTS = 20_000;
const DRY = { 'tradewind-dry-run': 'true' };

export const ATTACKS: readonly Attack[] = [
  { name: 'dry runs that exchange 240 rules', atOnce: 4, prepare: exchangeRules },
  { name: 'dry runs with 250 members', atOnce: 4, prepare: exchangeMembers },
  { name: 'late pages of the log of requests', atOnce: 40, prepare: readLatePages },
  { name: 'changes by one token', atOnce: 200, prepare: changeMuch },
  { name: 'events of which none is wanted', atOnce: 190, prepare: askForNothing },
  { name: 'large answers with keys, and refused changes', atOnce: 16, prepare: fillTables },
];

const rule = (port: number) => ({
  direction: 'ingress',
  protocol: 'tcp',
  port_range_min: port,
  port_range_max: port,
});

interface Group {
  id: string;
  security_group_rules: { id: string; direction: string }[];
}

async function groupOf({ api, attacker }: Ground, name: string): Promise<{ path: string; group: Group }> {
  const groups = `/cloud/v1/securitygroups/${attacker.projectId}/1`;
  const security_group_rules = Array.from({ length: 240 }, (_, n) => rule(1_000 + n));
  const group = (await api.call('POST', groups, { security_group: { name, security_group_rules } })) as Group;
  return { path: `${groups}/${group.id}`, group };
}

async function exchangeRules(ground: Ground): Promise<Shot[]> {
  const { path, group } = await groupOf(ground, 'exchanged');
  const given = group.security_group_rules.filter(({ direction }) => direction === 'ingress');
  const changed_rules = [
    ...given.map(({ id }) => ({ action: 'delete', security_group_rule_id: id })),
    ...given.map((_, n) => ({ action: 'create', ...rule(3_000 + n) })),
  ];
  return [{ method: 'PATCH', path, headers: DRY, body: { changed_rules } }];
}

async function exchangeMembers({ api, attacker }: Ground): Promise<Shot[]> {
  const { projectId } = attacker;
  const made = async (path: string, body: object): Promise<Record<string, string[]>> => {
    const [taskId] = (await api.call('POST', path, body)) as string[];
    const task = await api.call('GET', `/v1/tasks/${taskId}`, undefined, { prefer: 'wait=60' });
    return (task as { created_resources: Record<string, string[]> }).created_resources;
  };
  const balancers = await made(`/cloud/v1/loadbalancers/${projectId}/1`, { name: 'attacked' });
  const pools = `/cloud/v1/lbpools/${projectId}/1`;
  const members = (third: number) =>
    Array.from({ length: 250 }, (_, n) => ({ address: `10.0.${third}.${n + 1}`, protocol_port: 80 }));
  const pool = await made(pools, {
    name: 'attacked',
    load_balancer_id: balancers.loadbalancers?.[0],
    protocol: 'HTTP',
    lb_algorithm: 'ROUND_ROBIN',
    members: members(1),
  });
  const path = `${pools}/${pool.pools?.[0]}`;
  return [{ method: 'PATCH', path, headers: DRY, body: { members: members(2) } }];
}

async function readLatePages({ database, attacker }: Ground): Promise<Shot[]> {
  await database.query(
    `insert into user_actions (client_id, user_id, request_id, operation, method, path, source_user_ip, outcome, status, "timestamp")
     select $1, 1, gen_random_uuid(), 'updateSecurityGroup', 'PATCH', '/cloud/v1/securitygroups/1/1', '192.0.2.1', 'accepted',
       200, now() - number * interval '1 second' from generate_series(1, $2::integer) as number`,
    [attacker.clientId, LOG_ROWS],
  );
  // The latest, and the dearest, which is as far from either end.
  // As the server does by itself within minutes: nobody writes so many at once.
  await database.query('vacuum analyze user_actions');
  return [LOG_ROWS - 100, LOG_ROWS / 2].map((offset) => ({
    method: 'GET',
    path: `/iam/activity_log/requests?offset=${offset}`,
  }));
}

async function changeMuch({ attacker }: Ground): Promise<Shot[]> {
  const path = `/cloud/v1/projects/${attacker.projectId}`;
  return [{ method: 'PATCH', path, body: { description: UNIQUE } }];
}

async function askForNothing({ database, attacker }: Ground): Promise<Shot[]> {
  await database.query(
    `insert into events (client_id, project_id, type, subject, "time", data)
     select $1, $2, 'tradewind.volume.updated', 'volume/' || number, now(), '{"resources": []}'
     from generate_series(1, $3::integer) as number`,
    [attacker.clientId, attacker.projectId, EVENTS],
  );
  return [{ method: 'GET', path: '/tradewind/v1/events?cursor=oldest&type=tradewind.nothing.happened' }];
}

async function fillTables(ground: Ground): Promise<Shot[]> {
  const { path } = await groupOf(ground, 'answered');
  return [
    { method: 'PATCH', path, headers: { 'idempotency-key': UNIQUE }, body: { name: UNIQUE } },
    { method: 'POST', path: '/cloud/v1/projects', body: { name: '' } },
  ];
}
