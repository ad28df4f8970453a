import { pino } from 'pino';
import { expect, it } from 'vitest';
import { systemClock } from '../lib/time.ts';
import type { RequestLog } from '../requests/request-log.ts';
import { createServer } from './server.ts';

async function linesOf(trustedProxies: string[], headers: Record<string, string>): Promise<string[]> {
  const lines: string[] = [];
  const app = createServer({
    log: pino({ level: 'warn' }, { write: (text: string) => void lines.push(text) }),
    authenticator: {
      authenticate: () => Promise.reject(new Error('not asked')),
      standing: () => Promise.reject(new Error('Nobody is known')),
      forget: () => {},
      takeUses: () => [],
    },
    clock: systemClock,
    nextRequestId: () => 'any',
    rateLimit: 0,
    trustedProxies,
    requestLog: {} as RequestLog,
    refusals: { note: () => {}, noteChange: () => {}, flush: () => {} },
    nameFault: (fault) => fault,
  });
  app.get('/open', { config: { access: 'public' } }, () => 'open');
  for (let n = 0; n < 3; n++) await app.inject({ url: '/open', headers });
  await app.close();
  return lines;
}

const FORWARDED = { 'x-forwarded-for': '192.0.2.1' };

it('is told once of a proxy that nobody named', async () => {
  const [line = '', ...more] = await linesOf([], FORWARDED);
  expect(JSON.parse(line)).toMatchObject({
    level: 40,
    from: '127.0.0.1',
    msg: expect.stringMatching(/X-Forwarded-For.*TRADEWIND_TRUST_PROXY/),
  });
  expect(more).toEqual([]);
});

it('is told nothing where a proxy is named, or none is there', async () => {
  expect(await linesOf(['127.0.0.1'], FORWARDED)).toEqual([]);
  expect(await linesOf([], {})).toEqual([]);
});
