// The floor: the least that a server in this language can do for the same database work. Without router,
// validation, authentication or answer schema: it reads the body, sends the product's statements, and answers
// the rows.
import fs from 'node:fs';
import http from 'node:http';
import pg from 'pg';
import type { Plan } from './plan.ts';
import { compileReplay } from './replay.ts';

/** The same number of connections as the product. */
const POOL_SIZE = 20;
const FIND_UNIQUE = /bench-[0-9a-f]{12}/;

const [planFile = '', connectionString = ''] = process.argv.slice(2);
const plan = JSON.parse(fs.readFileSync(planFile, 'utf8')) as Plan;
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString, max: POOL_SIZE });
const replay = compileReplay(plan, pool);
const readsBody = plan.method !== 'GET' && plan.method !== 'DELETE';

const server = http.createServer(async (request, response) => {
  try {
    const body = readsBody ? await bodyOf(request) : '';
    if (body !== '') JSON.parse(body);
    const [unique = ''] = FIND_UNIQUE.exec(body) ?? FIND_UNIQUE.exec(request.url ?? '') ?? [];
    const rows = (await replay(unique)).flat();
    answer(response, 200, rows.length > 0 ? rows : plan.answer);
  } catch (error) {
    answer(response, 500, { message: String(error) });
  }
});

function answer(response: http.ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value ?? null);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

function bodyOf(request: http.IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => resolve(body));
    request.on('error', reject);
  });
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`listening on ${typeof address === 'object' ? address?.port : ''}.\n`);
});
process.on('SIGTERM', () => process.exit(0));
