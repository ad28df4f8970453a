// A network, a security group and a price, typed from the OpenAPI document:
//   TRADEWIND_URL=http://127.0.0.1:8080 TRADEWIND_TOKEN=<token> npm start
import { setTimeout as sleep } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { paths } from './tradewind.js';

const { TRADEWIND_URL = 'http://127.0.0.1:8080', TRADEWIND_TOKEN = '' } = process.env;
const api = createClient<paths>({
  baseUrl: TRADEWIND_URL,
  headers: { authorization: `apikey ${TRADEWIND_TOKEN}` },
});

const projects = read(await api.GET('/cloud/v1/projects'));
const project_id = projects.results[0]?.id ?? 0;
const path = { project_id, region_id: 1 };

const started = read(
  await api.POST('/cloud/v1/networks/{project_id}/{region_id}', {
    params: { path },
    body: { name: `example-${Date.now()}` },
  }),
);
const finished = await waitFor(started[0] ?? '');
console.log(`network ${finished.created_resources?.networks?.[0]}`);

const group = read(
  await api.POST('/cloud/v1/securitygroups/{project_id}/{region_id}', {
    params: { path },
    body: {
      security_group: {
        name: `example-${Date.now()}`,
        security_group_rules: [
          {
            direction: 'ingress',
            ethertype: 'IPv4',
            protocol: 'tcp',
            port_range_min: 443,
            port_range_max: 443,
          },
        ],
      },
    },
  }),
);
console.log(`group ${group.id} with ${group.security_group_rules.length} rules`);

const price = read(
  await api.POST('/cloud/v1/pricing/{project_id}/{region_id}/volumes', {
    params: { path },
    body: { source: 'new-volume', size: 10, type_name: 'standard' },
  }),
);
console.log(`price ${price.price_per_hour} ${price.currency_code} an hour`);

/** Asks until the task has ended; the server answers as soon as it has. */
async function waitFor(task_id: string) {
  for (;;) {
    const task = read(
      await api.GET('/v1/tasks/{task_id}', { params: { path: { task_id } }, headers: { prefer: 'wait=30' } }),
    );
    if (task.state === 'FINISHED') return task;
    if (task.state === 'ERROR') throw new Error(task.error ?? 'The task failed.');
    await sleep(200);
  }
}

function read<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (data === undefined) throw new Error(`${response.status} ${response.url}: ${JSON.stringify(error)}`);
  return data;
}
