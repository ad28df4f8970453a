import http from 'node:http';
import { TOKEN } from '../support/product.ts';

const CONNECTIONS = 16;
const GROUPS = '/cloud/v1/securitygroups/1/1';
/** Of ten requests, eight read. */
const READS = [
  `${GROUPS}?limit=20`,
  '/cloud/v1/projects',
  '/cloud/v1/volumes/1/1?limit=20',
  '/gcore/cloud/v1/instances/1/1?limit=20',
  '/cloud/v1/tasks?limit=20',
  '/streaming/ai/tasks?limit=10',
  '/iam/admin/paid_features',
  '/gcore/cloud/v1/regions',
];

/**
 * Sends requests of many kinds: reads under both base addresses, price previews, and creating and deleting
 * security groups and volumes, which start tasks.
 */
export async function sendMixedRequests(port: number, count: number): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let sent = 0;
  const made: string[] = [];
  async function lane(): Promise<void> {
    for (let n = sent++; n < count; n = sent++) {
      if (n % 10 === 9) await change(n);
      else if (n % 10 === 4)
        await call('POST', '/cloud/v1/pricing/1/1/volumes', {
          source: 'new-volume',
          size: 100,
          type_name: 'standard',
        });
      else await call('GET', READS[n % READS.length] ?? '/healthz');
    }
  }
  async function change(n: number): Promise<void> {
    const old = made.length > CONNECTIONS ? made.shift() : undefined;
    if (old !== undefined) {
      await call('DELETE', old);
    } else if (n % 100 === 9) {
      await call('POST', '/cloud/v1/volumes/1/1', { source: 'new-volume', size: 1, name: `bench-${n}` });
    } else {
      const group = { security_group: { name: `bench-${n}`, security_group_rules: [] } };
      const { id } = JSON.parse(await call('POST', GROUPS, group)) as { id: string };
      made.push(`${GROUPS}/${id}`);
    }
  }
  async function call(method: string, path: string, body?: unknown): Promise<string> {
    const text = body === undefined ? '' : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = http.request(
        { agent, host: '127.0.0.1', port, method, path, headers: { authorization: `apikey ${TOKEN}` } },
        async (response) => {
          let answer = '';
          for await (const chunk of response.setEncoding('utf8')) answer += chunk;
          if ((response.statusCode ?? 500) < 300) resolve(answer);
          else reject(new Error(`${method} ${path} answered ${response.statusCode}: ${answer}`));
        },
      );
      request.once('error', reject);
      if (text !== '') request.setHeader('content-type', 'application/json');
      request.end(text);
    });
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  agent.destroy();
}
