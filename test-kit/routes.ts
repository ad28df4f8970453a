import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FAMILIES } from '../src/backends/contract/needs.ts';
import { TEST_KIT } from '../src/http/dialect.ts';
import { hooks } from '../src/http/dialect-hooks.ts';
import { HttpError } from '../src/http/errors.ts';
import type { Api } from '../src/http/server.ts';
import { ForbiddenError, InvalidError, NotFoundError, QuotaExceededError } from '../src/lib/errors.ts';
import { closestName } from '../src/lib/texts.ts';
import type { ActionLog } from '../src/requests/action-log.ts';
import type { Refusals } from '../src/requests/refusals.ts';
import type { TestKitParts } from './parts.ts';
import { keepRequests, type SeenRequests } from './requests.ts';
import type { Rules } from './rules.ts';
import * as schema from './schema.ts';
import { type Effect, Rule, RuleRequest } from './schema.ts';

const KINDS: ReadonlySet<string> = new Set(Object.values(FAMILIES).flat());
/** Where to find the names that rules may have. */
const WHERE = {
  operation: 'operationId in /openapi.json',
  task: 'task_type of GET /cloud/v1/tasks',
  kind: `the kinds: ${[...KINDS].join(', ')}`,
};

/** Whether a path belongs to the test kit, which no rule may reach. */
const isOfTestKit = (url: string): boolean => url.startsWith(`${TEST_KIT}/`);

/**
 * For tests: takes everything back, lets things fail, and sets the time. Call it before other routes are registered, and
 * what it returns after them.
 */
export function prepareTestKit(app: Api, parts: TestKitParts, on: Noted): () => void {
  const requests = keepRequests(app, isOfTestKit);
  const operations = failRequests(app, parts.kit.rules);
  return () => testKitRoutes(app, on, { ...parts, requests, operations });
}

/** What was refused is written a moment later. */
interface Noted {
  refusals: Pick<Refusals, 'flush'>;
  actionLog: Pick<ActionLog, 'flush'>;
}

function testKitRoutes(
  app: Api,
  on: Noted,
  deps: TestKitParts & { requests: SeenRequests; operations: ReadonlySet<string> },
): void {
  const { kit, requests, snapshots, partial, work, normalSpeed, operations, taskTypes } = deps;
  const { clock, rules } = kit;
  const forPlatform = {
    config: { access: 'administer', onlyAsks: true, uncounted: true },
    preValidation: requirePlatform,
  } as const;
  /** Else it would be told of what comes after, which may have the same ids. */
  const writeNoted = async () => {
    on.refusals.flush();
    await on.actionLog.flush();
  };
  const clockState = () => ({ at: clock.now().toISOString(), running: clock.running });
  const setSpeed = async (speed: number) => {
    const before = kit.speed ?? normalSpeed;
    kit.speed = speed;
    if (before !== speed) await work.stretch(before / speed);
  };

  app.post(`${TEST_KIT}/reset`, {
    ...forPlatform,
    schema: { body: schema.Reset },
    handler: async ({ principal, body: { scope, id } }, reply) => {
      await writeNoted();
      if (scope === 'all') {
        if (id !== undefined) throw new InvalidError({ id: ['Is for the scopes client and project.'] });
        rules.clear();
        requests.clear();
        clock.reset();
        kit.speed = undefined;
        await snapshots.reset();
      } else if (scope === 'client') await partial.client(id ?? principal.clientId);
      else if (id === undefined) throw new InvalidError({ id: ['Say which project.'] });
      else await partial.project(id);
      return reply.code(204).send();
    },
  });

  app.get(`${TEST_KIT}/snapshots`, {
    ...forPlatform,
    schema: { response: { 200: schema.Snapshots } },
    handler: async () => ({ results: (await snapshots.list()).map((name) => ({ name })) }),
  });
  app.post(`${TEST_KIT}/snapshots`, {
    ...forPlatform,
    schema: { body: schema.NamedSnapshot, response: { 201: schema.NamedSnapshot } },
    handler: async ({ body }, reply) => {
      await snapshots.take(body.name);
      return reply.code(201).send(body);
    },
  });
  app.post(`${TEST_KIT}/snapshots/:name/restore`, {
    ...forPlatform,
    schema: { params: schema.NamedSnapshot },
    handler: async ({ params }, reply) => {
      await writeNoted();
      await snapshots.restore(params.name);
      return reply.code(204).send();
    },
  });
  app.delete(`${TEST_KIT}/snapshots/:name`, {
    ...forPlatform,
    schema: { params: schema.NamedSnapshot },
    handler: async ({ params }, reply) => {
      await snapshots.remove(params.name);
      return reply.code(204).send();
    },
  });

  app.get(`${TEST_KIT}/faults`, {
    ...forPlatform,
    schema: { response: { 200: schema.RuleList } },
    handler: async () => ({ results: rules.list() }),
  });
  app.post(`${TEST_KIT}/faults`, {
    ...forPlatform,
    schema: { body: RuleRequest, response: { 201: Rule } },
    handler: async ({ body }, reply) => {
      requireKnown('operation', body.operation, operations);
      requireKnown('task', body.task, taskTypes);
      requireKnown('kind', body.kind, KINDS);
      return reply.code(201).send(rules.add(body));
    },
  });
  app.delete(`${TEST_KIT}/faults`, {
    ...forPlatform,
    handler: async (_request, reply) => {
      rules.clear();
      return reply.code(204).send();
    },
  });
  app.delete(`${TEST_KIT}/faults/:id`, {
    ...forPlatform,
    schema: { params: schema.RuleParams },
    handler: async ({ params }, reply) => {
      if (!rules.remove(params.id)) throw new NotFoundError('Rule', params.id);
      return reply.code(204).send();
    },
  });

  app.get(`${TEST_KIT}/clock`, {
    ...forPlatform,
    schema: { response: { 200: schema.ClockState } },
    handler: async () => clockState(),
  });
  app.post(`${TEST_KIT}/clock`, {
    ...forPlatform,
    schema: { body: schema.ClockChange, response: { 200: schema.ClockState } },
    handler: async ({ body: { at, advance_s, running } }) => {
      if (at === undefined && advance_s === undefined && running === undefined) {
        throw new InvalidError({ body: ['Say at, advance_s or running.'] });
      }
      if (running === false) clock.stop();
      if (at !== undefined) clock.set(new Date(at));
      if (advance_s !== undefined) clock.advance(advance_s * 1_000);
      if (running === true) clock.start();
      await work.lookAgain();
      return clockState();
    },
  });

  app.get(`${TEST_KIT}/simulation`, {
    ...forPlatform,
    schema: { response: { 200: schema.Simulation } },
    handler: async () => ({ speed: kit.speed ?? normalSpeed }),
  });
  app.post(`${TEST_KIT}/simulation`, {
    ...forPlatform,
    schema: { body: schema.Simulation, response: { 200: schema.Simulation } },
    handler: async ({ body }) => {
      await setSpeed(body.speed);
      return body;
    },
  });

  app.post(`${TEST_KIT}/machines/:instance_id`, {
    ...forPlatform,
    schema: { params: schema.MachineParams, body: schema.MachineFate },
    handler: async ({ params, body: { becomes } }, reply) => {
      await work.become(params.instance_id, becomes === 'running' ? undefined : becomes);
      return reply.code(204).send();
    },
  });

  app.get(`${TEST_KIT}/requests`, {
    ...forPlatform,
    schema: { querystring: schema.RequestsQuery, response: { 200: schema.SeenRequests } },
    handler: async ({ query }) => ({ results: requests.list().filter(isAsked(query)).slice(0, query.limit) }),
  });
  app.delete(`${TEST_KIT}/requests`, {
    ...forPlatform,
    handler: async (_request, reply) => {
      requests.clear();
      return reply.code(204).send();
    },
  });

  app.post(`${TEST_KIT}/tasks/:task_id/finish`, {
    ...forPlatform,
    schema: { params: schema.TaskParams },
    handler: async ({ params }, reply) => {
      await work.finish(params.task_id);
      return reply.code(204).send();
    },
  });
  app.post(`${TEST_KIT}/tasks/:task_id/fail`, {
    ...forPlatform,
    schema: { params: schema.TaskParams, body: schema.TaskFailure },
    handler: async ({ params, body }, reply) => {
      await work.fail(params.task_id, body.reason);
      return reply.code(204).send();
    },
  });
}

async function requirePlatform({ principal }: FastifyRequest): Promise<void> {
  if (principal.platformAdministrator) return;
  throw new ForbiddenError('The test kit needs the token of the platform administrator');
}

type Seen = ReturnType<SeenRequests['list']>[number];

function isAsked({ operation, method, status, client_id }: schema.RequestsQuery): (one: Seen) => boolean {
  return (one) =>
    (operation === undefined || one.operation === operation) &&
    (method === undefined || one.method === method) &&
    (status === undefined || one.status === status) &&
    (client_id === undefined || one.client_id === client_id);
}

/** A rule for what doesn't exist would never hit, and nobody would know why. @throws InvalidError */
function requireKnown(field: keyof typeof WHERE, name: string | undefined, known: ReadonlySet<string>): void {
  if (name === undefined || known.has(name)) return;
  const meant = closestName(name, [...known]);
  const hint = meant === undefined ? `see ${WHERE[field]}` : `did you mean ${meant}?`;
  throw new InvalidError({ [field]: [`There is no such ${field}; ${hint}`] });
}

const DROPPED = 'A rule of the test kit cuts this connection';

/**
 * Lets requests fail by rule, after they have been checked and before they do anything. Returns the names of the
 * operations, which are complete once all routes are there.
 */
function failRequests(app: FastifyInstance, rules: Rules): ReadonlySet<string> {
  const dropped = new WeakSet<FastifyRequest>();
  const operations = new Set<string>();
  app.addHook('onRoute', (route) => {
    if (isOfTestKit(route.url)) return;
    if (route.schema?.operationId !== undefined) operations.add(route.schema.operationId);
    route.preHandler = [meet, ...hooks(route.preHandler)];
    route.onSend = [...hooks(route.onSend), cut];
  });
  return operations;

  async function meet(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { operationId } = (request.routeOptions.schema ?? {}) as { operationId?: string };
    const applied = rules.forRequest({
      key: request.id,
      ...(operationId !== undefined && { operation: operationId }),
      clientIds: request.principal ? [request.principal.clientId] : [],
      names: namesIn(request.body),
    });
    if (applied) await suffer(applied.effect, request, reply);
  }

  async function suffer(effect: Effect, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if ('delay_ms' in effect) await delay(effect.delay_ms);
    if ('drop' in effect) {
      dropped.add(request);
      if (effect.drop === 'before') throw new HttpError(503, DROPPED);
    }
    if ('quota' in effect) {
      throw new QuotaExceededError({
        attribute: effect.quota,
        current_usage: 0,
        requested_usage: 1,
        limit: 0,
      });
    }
    if ('status' in effect) {
      if (effect.retry_after !== undefined) void reply.header('retry-after', String(effect.retry_after));
      throw new HttpError(effect.status, effect.message ?? 'A rule of the test kit refuses this request');
    }
  }

  async function cut(request: FastifyRequest, _reply: FastifyReply, payload: unknown): Promise<unknown> {
    if (dropped.has(request)) request.raw.socket.destroy();
    return payload;
  }
}

/** Returns the names in a body: its own, or that of the one object in it. */
function namesIn(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  const objects = [body, ...Object.values(body).filter((one) => typeof one === 'object' && one !== null)];
  return objects.flatMap(({ name }: { name?: unknown }) => (typeof name === 'string' ? [name] : []));
}
