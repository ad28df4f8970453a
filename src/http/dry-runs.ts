import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InvalidError } from '../lib/errors.ts';
import { patchOf } from '../lib/json-patch.ts';
import { DryRun } from '../lib/request-context.ts';
import type { DryRunReports } from '../requests/dry-run-reports.ts';
import { changesSomething } from './changing-requests.ts';
import { hooks } from './dialect-hooks.ts';

const HEADER = 'tradewind-dry-run';
const VERSION = /^v\d$/;
/** A parameter at the end of a route, if what it names is no place but a resource. */
const NAMES_RESOURCE = /^:(?!project_id|region_id)/;
/** Parameters in patterns: clusters and pools are read by their names. */
const [BY_NAME, BY_ID] = [':_name', ':'];
/** Where resources are read that can't be read below the address at which they are changed. */
const READ_ELSEWHERE: readonly [changed: RegExp, read: string][] = [
  [/^((?:gcore\/)?)tradewind\/v1\/clients\//, '$1iam/clients/'],
  [/^((?:gcore\/)?)cloud\/v2\/security_groups\//, '$1cloud/v1/securitygroups/'],
];

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the request only asks what it would do. */
    dryRun: DryRun | undefined;
    resourceBefore: Resource | undefined;
  }
}

interface Resource {
  path: string;
  /** Undefined if there is none, or not for the caller. */
  state: unknown;
  /** Whether the request adds to a list of this resource: what it makes is the resource then, if it makes anything. */
  holdsList: boolean;
}

interface Made {
  id: number | string;
  name?: string | null;
}

/**
 * Answers changing requests with `Tradewind-Dry-Run: true` by what they would do. They are carried out like others, in
 * a transaction that is rolled back once all is known.
 */
export function offerDryRuns(app: FastifyInstance, reports: DryRunReports): void {
  const readable = new Set<string>();
  app.decorateRequest('dryRun');
  app.decorateRequest('resourceBefore');
  app.addHook('onRoute', (route) => {
    if (route.method === 'GET') readable.add(patternOf(partsOf(route.url)));
    if (route.method === 'GET' || !changesSomething(String(route.method), route.config)) return;
    route.onRequest = [...hooks(route.onRequest), ask];
    // Comes first: all that follows belongs to the dry run.
    route.preHandler = [readBefore, begin, ...hooks(route.preHandler)];
    route.onSend = [...hooks(route.onSend), answer];
  });

  async function ask(request: FastifyRequest): Promise<void> {
    const given = request.headers[HEADER];
    if (given === undefined || given === 'false') return;
    if (given !== 'true') throw new InvalidError({ 'Tradewind-Dry-Run': ['Must be true or false.'] });
    if (!request.principal) {
      throw new InvalidError({
        'Tradewind-Dry-Run': ['Is only known to operations that need a token; leave it out.'],
      });
    }
    request.dryRun = new DryRun();
  }

  async function readBefore(request: FastifyRequest): Promise<void> {
    if (!request.dryRun) return;
    const [own, ...above] = addressesOf(request);
    const holdsList = request.method === 'POST' && own !== undefined;
    for (const path of holdsList ? above : [own, ...above]) {
      if (path === undefined) continue;
      request.resourceBefore = { path, state: await read(request, path), holdsList };
      // Some things, such as a tag named in the query, have no address of their own: their parent shows them.
      if (request.method !== 'DELETE' || request.resourceBefore.state !== undefined) return;
    }
  }

  function begin(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const { dryRun } = request;
    if (!dryRun) {
      done();
      return;
    }
    // Hooks are not called for a client that has gone.
    reply.raw.once('close', () => dryRun.end());
    dryRun.within(done);
  }

  async function answer(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
    const { dryRun, changing, principal } = request;
    if (!dryRun) return payload;
    try {
      if (!changing || reply.statusCode >= 300) return payload;
      const { change, ...report } = await dryRun.within(async () => {
        const { about, made, tasks } = changing.outcome;
        const named = partsOfPath(request.url);
        const others = about.filter(({ id }) => !named.includes(String(id)));
        const other = others.find(({ name }) => !named.includes(String(name))) ?? others.at(-1);
        const id = made ?? madeBy(payload);
        const change = await changeOf(request, id === undefined ? other : { id });
        return { ...(await reports.of(principal, dryRun, tasks)), change };
      });
      // All is read. Its locks hold up others.
      dryRun.end();
      void reply.code(200).type('application/json; charset=utf-8').removeHeader('etag');
      const { resource, before, after } = change;
      return JSON.stringify({ ...report, resource, changes: patchOf(before, after) });
    } finally {
      dryRun.end();
    }
  }

  /** Reads the resource at the request's address, or the one that it makes, and returns it with what it was. */
  async function changeOf(
    request: FastifyRequest,
    made: Made | undefined,
  ): Promise<{ resource: string | null; before?: unknown; after?: unknown }> {
    const { resourceBefore: before, dryRun } = request;
    // Without a transaction, nothing was to be done.
    if (!dryRun?.client) return { resource: before?.path ?? null };
    const added = !before || before.holdsList ? addressOfMade(request, made) : undefined;
    const path = added ?? before?.path;
    if (path === undefined) return { resource: null };
    const former = added === undefined ? before?.state : undefined;
    return { resource: path, before: former, after: await read(request, path) };
  }

  async function read(request: FastifyRequest, path: string): Promise<unknown> {
    const { authorization } = request.headers;
    const run = request.dryRun as DryRun;
    const got = await run.within(() =>
      app.inject({ method: 'GET', url: path, remoteAddress: request.ip, headers: { authorization } }),
    );
    return got.statusCode === 200 ? got.json() : undefined;
  }

  /** Returns where a request's own address can be read, or undefined, and then the nearest resource above it. */
  function addressesOf(request: FastifyRequest): (string | undefined)[] {
    const route = partsOf(request.routeOptions.url ?? '');
    const path = partsOfPath(request.url);
    for (let length = route.length - 1; length > 0; length--) {
      if (!NAMES_RESOURCE.test(route[length - 1] ?? '')) continue;
      const above = readableAt(route.slice(0, length), path.slice(0, length));
      if (above !== undefined) return [readableAt(route, path), above];
    }
    return [readableAt(route, path)];
  }

  function addressOfMade(request: FastifyRequest, made: Made | undefined): string | undefined {
    const [route, path] = [partsOf(request.routeOptions.url ?? ''), partsOfPath(request.url)];
    const length = route.at(-1) === 'create' ? route.length - 1 : route.length;
    const at = (param: string, value: number | string | null | undefined) =>
      value === undefined || value === null
        ? undefined
        : readableAt([...route.slice(0, length), param], [...path.slice(0, length), encodeURIComponent(value)]);
    return at(BY_NAME, made?.name) ?? at(BY_ID, made?.id);
  }

  /** Returns the path in whichever version of the API it can be read. */
  function readableAt(route: string[], path: string[]): string | undefined {
    const place = route.findIndex((part) => VERSION.test(part));
    const versions = place === -1 ? [undefined] : [route[place], 'v1', 'v2', 'v3'];
    for (const version of versions) {
      const inVersion = (parts: string[]) => (version === undefined ? parts : parts.with(place, version));
      if (readable.has(patternOf(inVersion(route)))) return `/${inVersion(path).join('/')}`;
    }
    for (const [changed, read] of READ_ELSEWHERE) {
      const elsewhere = (parts: string[]) => parts.join('/').replace(changed, read);
      const there = elsewhere(route).split('/');
      if (changed.test(route.join('/')) && readable.has(patternOf(there))) return `/${elsewhere(path)}`;
    }
    return undefined;
  }
}

/** The condition on a parameter may contain question marks. */
function partsOf(route: string): string[] {
  return route.split('/').slice(1);
}

function partsOfPath(url: string): string[] {
  return partsOf(url.split('?', 1)[0] ?? '');
}

function patternOf(parts: string[]): string {
  const pattern = (part: string) => (/^:\w*_name\b/.test(part) ? BY_NAME : BY_ID);
  return parts.map((part) => (part.startsWith(':') ? pattern(part) : part)).join('/');
}

/** Returns the id in an answer that shows the new resource. */
function madeBy(payload: unknown): number | string | undefined {
  if (typeof payload !== 'string' || !payload.startsWith('{')) return undefined;
  const { id } = JSON.parse(payload) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
