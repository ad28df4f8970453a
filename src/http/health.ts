import { Type } from 'typebox';
import { version } from '../lib/own-program.ts';
import type { Api } from './server.ts';

type Checks = Record<string, string | undefined>;

/** The state of this process; each check returns undefined or what is wrong. */
export interface Readiness {
  check(): Promise<{
    role: string;
    /** The catalogue that the process works with. */
    catalog: string;
    /** Problems that keep the process from its work. */
    problems: Checks;
    /** Problems that don't, but leave some work undone. */
    degraded: Checks;
  }>;
}

const Texts = Type.Record(Type.String(), Type.String());
const Health = Type.Object({ status: Type.String(), version: Type.String() });
const Ready = Type.Object({
  status: Type.String(),
  role: Type.String(),
  catalog: Type.String(),
  problems: Texts,
  degraded: Texts,
});

/** `/healthz`: the process answers, and which release it is. `/readyz`: it can do the work of its role. Neither requires a token. */
export function healthRoutes(app: Api, readiness: Readiness): void {
  // Probes come from the operator, and may share their address with anybody.
  const config = { access: 'public', uncounted: true } as const;
  app.get('/healthz', {
    config,
    schema: { hide: true, response: { 200: Health } },
    handler: async () => ({ status: 'ok', version }),
  });
  app.get('/readyz', {
    config,
    schema: { hide: true, response: { 200: Ready, 503: Ready } },
    handler: async (_request, reply) => {
      const found = await readiness.check();
      const [problems, degraded] = [failed(found.problems), failed(found.degraded)];
      const ready = Object.keys(problems).length === 0;
      const status = ready ? 'ready' : 'not ready';
      return reply.code(ready ? 200 : 503).send({ ...found, status, problems, degraded });
    },
  });
}

function failed(checks: Checks): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, problem] of Object.entries(checks)) if (problem !== undefined) texts[name] = problem;
  return texts;
}
