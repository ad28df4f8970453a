import type pg from 'pg';

/** What is asked for, and what it is: searches may grow more. */
export interface ScaledRequest {
  name: string;
  path: string;
  target: 1.5 | 3;
}

/** Returns the lists and reads of a token's account. */
export async function requestsOf(pool: pg.Pool, token: string): Promise<ScaledRequest[]> {
  const { rows } = await pool.query<
    Record<'project' | 'network' | 'group' | 'port' | 'task' | 'ai' | 'address' | 'label', string>
  >(
    `select project, network_id as network, one.id as port, one.name as label, host(address) as address,
       (select id from security_groups where project_id = project and name = one.name) as group,
       (select id from tasks where client_id = $1 order by created_on limit 1) as task,
       (select id from ai_tasks where client_id = $1 order by created_at limit 1) as ai
     from (select id as project from projects where client_id = $1) as home
     join lateral (select * from ports where project_id = project and name like 'row-%' order by created_at limit 1) as one on true
     join ip_assignments on port_id = one.id`,
    [await accountOf(pool, token)],
  );
  const [row] = rows;
  if (!row) throw new Error('The account has no rows');
  const { project, network, group, port, task, ai, address, label } = row;
  const groups = `/cloud/v1/securitygroups/${project}/1`;
  const ports = `/cloud/v1/ports/${project}/1`;
  const list = (name: string, path: string): ScaledRequest => ({ name, path, target: 1.5 });
  const search = (name: string, path: string): ScaledRequest => ({ name, path, target: 3 });
  return [
    list('security groups', groups),
    list('security groups by name', `${groups}?name=${label}`),
    list('security groups by tag', `${groups}?tag_key_value=${encodeURIComponent(JSON.stringify({ team: label }))}`),
    list('a security group', `${groups}/${group}`),
    list('ports, 10', `${ports}?limit=10`),
    list('ports of a network, 10', `${ports}?limit=10&network_ids=${network}`),
    list('ports by address', `${ports}?ip_addresses=${address}`),
    list('a port', `${ports}/${port}`),
    list('tasks', '/cloud/v1/tasks'),
    list('tasks, oldest first', '/cloud/v1/tasks?order_by=asc'),
    list('tasks, failed', '/cloud/v1/tasks?state=ERROR'),
    list('active tasks', `/cloud/v1/tasks/${project}/1/active`),
    list('a task', `/v1/tasks/${task}`),
    list('AI tasks', '/streaming/ai/tasks?limit=10'),
    list('AI tasks, failed', '/streaming/ai/tasks?limit=10&status=FAILURE'),
    list('an AI task', `/streaming/ai/tasks/${ai}`),
    search('AI tasks, search for one', `/streaming/ai/tasks?search=${label}`),
    search('AI tasks, search for all', '/streaming/ai/tasks?limit=10&search=media.example'),
    search('AI tasks, search for none', '/streaming/ai/tasks?search=nothing-like-this'),
  ];
}

async function accountOf(pool: pg.Pool, token: string): Promise<number> {
  const { rows } = await pool.query<{ client_id: number }>('select client_id::int from api_tokens where id = $1', [
    Number.parseInt(token, 10),
  ]);
  return rows[0]?.client_id ?? 0;
}
