import { Type } from 'typebox';
import type { Api } from './server.ts';

/** What must hold for every operation to work; each check answers undefined or what is wrong. */
export interface Readiness {
  check(): Promise<Record<string, string | undefined>>;
}

const Health = Type.Object({ status: Type.String() });
const Ready = Type.Object({ status: Type.String(), problems: Type.Record(Type.String(), Type.String()) });

/** `/healthz`: the process answers. `/readyz`: every operation works. Neither asks for a token. */
export function healthRoutes(app: Api, readiness: Readiness): void {
  app.get('/healthz', {
    config: { access: 'public' },
    schema: { hide: true, response: { 200: Health } },
    handler: async () => ({ status: 'ok' }),
  });
  app.get('/readyz', {
    config: { access: 'public' },
    schema: { hide: true, response: { 200: Ready, 503: Ready } },
    handler: async (_request, reply) => {
      const found = Object.entries(await readiness.check()).filter(([, problem]) => problem !== undefined);
      const problems = Object.fromEntries(found) as Record<string, string>;
      const ready = found.length === 0;
      return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready', problems });
    },
  });
}
