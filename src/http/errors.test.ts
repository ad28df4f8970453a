import { pino } from 'pino';
import { expect, test } from 'vitest';
import { UnavailableError } from '../lib/errors.ts';
import { systemClock } from '../lib/time.ts';
import type { RequestLog } from '../requests/request-log.ts';
import { createServer } from './server.ts';

test.each([
  [500, new Error('out of luck'), { level: 50, err: { message: 'out of luck' }, url: '/broken?x=1' }],
  [503, new UnavailableError('The database is away'), { level: 40, msg: 'The database is away' }],
])('a %i is in the log under the request id that its answer names', async (status, error, line) => {
  const lines: string[] = [];
  const app = createServer({
    log: pino({ level: 'info' }, { write: (text: string) => void lines.push(text) }),
    authenticator: {
      authenticate: () => Promise.reject(error),
      standing: () => Promise.reject(new Error('Nobody is known')),
      forget: () => {},
      takeUses: () => [],
    },
    clock: systemClock,
    nextRequestId: () => 'this-request',
    rateLimit: 0,
    trustedProxies: [],
    requestLog: {} as RequestLog,
    refusals: { note: () => {}, noteChange: () => {}, flush: () => {} },
    nameFault: (fault) => fault,
  });
  app.get('/broken', { config: { access: 'public' } }, () => Promise.reject(error));
  const answer = await app.inject('/broken?x=1');
  await app.close();
  expect([answer.statusCode, answer.headers['x-request-id']]).toEqual([status, 'this-request']);
  expect(lines.map((text) => JSON.parse(text))).toMatchObject([{ ...line, reqId: 'this-request' }]);
});
