import { TOKEN } from '../support/product.ts';

/** Calls one side's API and measures the time of each answer. */
export function createTimedApi(port: number) {
  async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const begun = performance.now();
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        authorization: `apikey ${TOKEN}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const ms = performance.now() - begun;
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
    return { ms, body: text === '' ? undefined : JSON.parse(text) };
  }
  /** Waits for the task that an answer names. */
  async function ended(answer: { tasks?: string[] } | string[]) {
    const [id] = Array.isArray(answer) ? answer : (answer.tasks ?? []);
    const { ms, body } = await call('GET', `/v1/tasks/${id}`, undefined, { prefer: 'wait=30' });
    if (body.state !== 'FINISHED') throw new Error(`Task ${id} is ${body.state}: ${body.error}`);
    return { id, ms, created: body.created_resources };
  }
  return { call, ended };
}
export type TimedApi = ReturnType<typeof createTimedApi>;

/** Records milliseconds under the name of what took them. */
export type Note = (name: string, ms: number) => void;

/** Requests that are measured together, since one makes what the next needs. */
export type Turn = (api: TimedApi, note: Note, unique: string) => Promise<void>;

async function groupTurn(api: TimedApi, note: Note, name: string): Promise<void> {
  const security_group_rules = [22, 80, 443, 8080].map((port) => ({
    direction: 'ingress',
    ethertype: 'IPv4',
    protocol: 'tcp',
    port_range_min: port,
    port_range_max: port,
  }));
  const path = '/cloud/v1/securitygroups/1/1';
  const made = await api.call('POST', path, { security_group: { name, security_group_rules } });
  note('Create security group', made.ms);
  const gone = await api.call('DELETE', `${path}/${made.body.id}`);
  note('Delete security group', gone.ms);
}

const lifeTurn =
  (kind: string, family: string, bodyOf: (name: string) => object): Turn =>
  async (api, note, name) => {
    const path = `/cloud/v1/${family}/1/1`;
    const made = await api.call('POST', path, bodyOf(name));
    note(`Create ${kind}: accepted`, made.ms);
    const there = await api.ended(made.body);
    note(`Create ${kind}: FINISHED`, made.ms + there.ms);
    note('Get task', (await api.call('GET', `/v1/tasks/${there.id}`)).ms);
    const gone = await api.call('DELETE', `${path}/${there.created[family][0]}`);
    note(`Delete ${kind}: accepted`, gone.ms);
    note(`Delete ${kind}: FINISHED`, gone.ms + (await api.ended(gone.body)).ms);
  };

const LISTS: readonly [string, string][] = [
  ['Tasks', '/cloud/v1/tasks'],
  ['Tasks, page 5', '/cloud/v1/tasks?limit=100&offset=400'],
  ['Tasks, oldest first', '/cloud/v1/tasks?order_by=asc'],
  ['Tasks, running', '/cloud/v1/tasks?state=NEW&state=RUNNING'],
  ['Tasks, failed', '/cloud/v1/tasks?state=ERROR'],
  ['Tasks of a type', '/cloud/v1/tasks?task_type=create_volume'],
  ['Tasks of a project and region', '/cloud/v1/tasks?project_id=1&region_id=1'],
  ['Tasks, finished, of a type and project', '/cloud/v1/tasks?project_id=1&state=FINISHED&task_type=create_vm'],
  ['Tasks, not acknowledged', '/cloud/v1/tasks?is_acknowledged=false'],
  ['Tasks since yesterday', `/cloud/v1/tasks?from_timestamp=${new Date(Date.now() - 86_400_000).toISOString()}`],
  ['Active tasks', '/cloud/v1/tasks/1/1/active'],
  ['Log of requests', '/cloud/v1/request_log'],
  ['User actions', '/cloud/v1/user_actions'],
  ['Volumes', '/cloud/v1/volumes/1/1'],
  ['Volumes, attached', '/cloud/v1/volumes/1/1?has_attachments=true'],
  ['Volumes by name', '/cloud/v1/volumes/1/1?name_part=copy-0000042'],
  ['Volumes by tag', `/cloud/v1/volumes/1/1?tag_key_value=${encodeURIComponent('{"team":"copy-0000042"}')}`],
  ['Volumes by a tag of all', '/cloud/v1/volumes/1/1?tag_key=made_by'],
  ['Instances', '/cloud/v1/instances/1/1'],
  ['Instances by name', '/cloud/v1/instances/1/1?name=copy-0000042'],
  ['Instances by tag', `/cloud/v1/instances/1/1?tag_key_value=${encodeURIComponent('{"team":"copy-0000042"}')}`],
  ['Networks', '/cloud/v1/networks/1/1'],
  ['Security groups', '/cloud/v1/securitygroups/1/1'],
  ['Clusters', '/cloud/v1/k8s/clusters/1/1'],
  ['Nodes of a cluster', '/cloud/v1/k8s/clusters/1/1/copy-0000042/instances'],
];

/** By the name of the resource. */
export const TURNS: readonly { name: string; turn: Turn }[] = [
  { name: 'security group', turn: groupTurn },
  {
    name: 'volume',
    turn: lifeTurn('volume', 'volumes', (name) => ({ name, source: 'new-volume', size: 1 })),
  },
  { name: 'network', turn: lifeTurn('network', 'networks', (name) => ({ name, create_router: false })) },
  ...LISTS.map(([name, path]) => ({
    name,
    turn: async (api: TimedApi, note: Note) => note(`List: ${name}`, (await api.call('GET', path)).ms),
  })),
];
