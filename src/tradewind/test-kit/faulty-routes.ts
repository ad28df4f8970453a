import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HttpError } from '../../http/errors.ts';
import { hooks } from '../../http/route-hooks.ts';
import { QuotaExceededError } from '../../lib/errors.ts';
import type { Effect } from './rule-schema.ts';
import type { Rules } from './rules.ts';

const DROPPED = 'A rule of the test kit cuts this connection';

/**
 * Lets requests fail by rule, after they have been checked and before they do anything. Returns the names of the
 * operations, which are complete once all routes are there.
 */
export function failRequests(
  app: FastifyInstance,
  rules: Rules,
  isOwn: (url: string) => boolean,
): ReadonlySet<string> {
  const dropped = new WeakSet<FastifyRequest>();
  const operations = new Set<string>();
  app.addHook('onRoute', (route) => {
    if (isOwn(route.url)) return;
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
