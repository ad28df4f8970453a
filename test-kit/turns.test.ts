import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { brokenInvariants } from '../test/acceptance/concurrency/invariants.ts';
import { startService, type TestService } from '../test/support/service.ts';

const RESET = '/tradewind/v1/test/reset';
const WRITERS = 8;
const RESETS = 12;

let service: TestService;
const said: string[] = [];
beforeAll(async () => {
  const log = pino({ level: 'warn' }, { write: (line: string) => void said.push(line) });
  service = await startService({ TRADEWIND_TEST_API: 'true', TRADEWIND_SIMULATION_SPEED: '100' }, { log });
});
afterAll(() => service.stop());

const WRITES: ((name: string) => [path: string, body: object])[] = [
  (name) => ['/cloud/v1/volumes/1/1', { source: 'new-volume', name, size: 1 }],
  (name) => ['/cloud/v1/networks/1/1', { name, create_router: true }],
  (name) => ['/cloud/v1/securitygroups/1/1', { security_group: { name } }],
];

it('a reset takes its turn among writers and running tasks, and nobody is refused', {
  timeout: 300_000,
}, async () => {
  const refused: string[] = [];
  let over = false;
  let written = 0;
  const writers = Array.from({ length: WRITERS }, async (_, number) => {
    for (let count = number; !over; count++) {
      const write = WRITES[count % WRITES.length];
      if (!write) throw new Error();
      const [path, body] = write(`${number}-${count}`);
      const answer = await service.http.post(path, body);
      // Between two resets, the quota may be used up.
      if (answer.status >= 300 && answer.status !== 403) refused.push(`${path}: ${answer.status} ${answer.text}`);
      written++;
    }
  });
  for (let count = 0; count < RESETS && refused.length === 0; count++) {
    const before = written;
    const scopes = [{ scope: 'all' }, { scope: 'project', id: 1 }, { scope: 'client', id: 1 }];
    // Two at once take turns as well.
    const pair = [scopes[count % 3], scopes[(count + 1) % 3]];
    for (const { status, text } of await Promise.all(pair.map((body) => service.http.post(RESET, body))))
      if (status !== 204) refused.push(`reset: ${status} ${text}`);
    await expect.poll(() => written).toBeGreaterThan(before + WRITERS);
  }
  over = true;
  await Promise.all(writers);
  expect(refused).toEqual([]);
  expect(said.filter((line) => /deadlock|can not be reached/.test(line))).toEqual([]);
  await expect.poll(() => brokenInvariants(service.pool), { interval: 200 }).toEqual([]);
});
