import { Type } from 'typebox';
import type { Api } from './server.ts';

type Checks = Record<string, string | undefined>;

/** What holds of this process; each check answers undefined or what is wrong. */
export interface Readiness {
  check(): Promise<{
    role: string;
    /** Which catalogue it works with. */
    catalog: string;
    /** What keeps it from its work. */
    problems: Checks;
    /** What doesn't, and leaves something undone. */
    degraded: Checks;
  }>;
}

const Texts = Type.Record(Type.String(), Type.String());
const Health = Type.Object({ status: Type.String() });
const Ready = Type.Object({
  status: Type.String(),
  role: Type.String(),
  catalog: Type.String(),
  problems: Texts,
  degraded: Texts,
});

/** `/healthz`: the process answers. `/readyz`: it does what its role asks for. Neither asks for a token. */
export function healthRoutes(app: Api, readiness: Readiness): void {
  // What asks is known to its operator, and may share its address with anybody.
  const config = { access: 'public', uncounted: true } as const;
  app.get('/healthz', {
    config,
    schema: { hide: true, response: { 200: Health } },
    handler: async () => ({ status: 'ok' }),
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
