import { sql } from 'kysely';
import { type Database, onlyChecked, type Sql, type Transaction } from '../db/database.ts';
import { InvalidError, PreconditionFailedError, TooManyRequestsError } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import type { ChangeRecord } from '../lib/request-context.ts';
import type { ActionResource } from '../lib/resources.ts';
import type { Clock } from '../lib/time.ts';
import type { NamedRow, Versioned } from '../lib/versioned.ts';
import type { ActionLog, NewUserAction } from './action-log.ts';
import { actionOf, kindOf, publishedAs, resourcesOf } from './action-of.ts';
import { eventOfOperation, resourceOf, typeOf, verbOf } from './event-types.ts';
import type { NewEvent } from './events.ts';
import { type Answer, answerBefore, fingerprintOf, type KeyUse, keepAnswer, takeKey } from './idempotency.ts';
import type { IncomingRequest } from './incoming-request.ts';
import type { Refusals } from './refusals.ts';

/** Ids in paths are not checked before a request is refused. */
const MOST_SUBJECT = 300;

/** What an event is about. */
interface Told {
  type: string;
  word: string;
  id: string | undefined;
  table: string | undefined;
  resources: { type: string; id: string; name: string | null }[];
}

/** What the work of a request reported. */
interface Noted {
  about: readonly ActionResource[];
  made: string | undefined;
}

/** Returns the event that tells of an accepted request. Contains nothing of its body. */
export function eventOf(
  request: IncomingRequest,
  action: Omit<NewUserAction, 'outcome' | 'status'>,
  noted: Noted,
): NewEvent | undefined {
  const told = toldOf(request, noted);
  if (!told) return undefined;
  const { type, id, table, resources } = told;
  const { client_id, project_id, region_id, user_id, token_id, task_id, request_id, operation } = action;
  return {
    type,
    subject: subjectOf(told),
    revised: `${table}:${id}`,
    data: JSON.stringify({
      client_id,
      project_id,
      region_id,
      resources,
      task: task_id ? { id: task_id } : null,
      actor: { user_id, client_id: request.principal.clientId, token_id },
      request_id,
      operation,
    }),
  };
}

/** Returns the event that would have told of a refused request, and what that would have been about. */
export function aimOf(request: IncomingRequest): { event_type: string; subject: string } | undefined {
  const told = toldOf(request, { about: [], made: undefined });
  return told && { event_type: told.type, subject: subjectOf(told).slice(0, MOST_SUBJECT) };
}

const subjectOf = ({ word, id }: Told): string => (id === undefined ? word : `${word}/${id}`);

function toldOf(request: IncomingRequest, { about, made }: Noted): Told | undefined {
  const kind = kindOf(request.method, request.route, request.body());
  const verb = kind && verbOf(kind.type);
  if (kind && verb !== undefined) {
    const { word, table } = resourceOf(kind.resource);
    const all = resourcesOf(request, kind, about);
    const resources = all.map((one) => ({
      type: resourceOf(one.type).word,
      id: String(one.id),
      name: one.name ?? null,
    }));
    const id = all.find((one) => one.type === kind.resource)?.id;
    return { type: typeOf(word, verb), word, table, id: id === undefined ? id : String(id), resources };
  }
  const event = eventOfOperation(request.operation);
  if (!event) return undefined;
  const { word, param, table } = event;
  const given = made ?? (param === undefined ? undefined : request.params[param]);
  const id = given === undefined ? undefined : String(given);
  const resources = id === undefined ? [] : [{ type: word, id, name: null }];
  return { type: typeOf(word, event.verb), word, table, id, resources };
}

/** What an account may have at a time: a valid key protects until it expires, so a new one is refused instead. */
export const MOST_KEYS = 50_000;
export const MOST_KEPT_BYTES = 64 * 1_048_576;
/** Counting takes longer the more there are. Meanwhile a process only knows of what it has added itself. */
const COUNTED_FOR_MS = 2_000;
const MOST_REMEMBERED = 1_000;

interface Held {
  keys: number;
  /** Of the answers. */
  bytes: number;
  /** When the oldest key expires. */
  firstEndsAt: Date | null;
  countedAt: number;
}

/** Knows about how many idempotency keys each account has. */
export interface KeyRoom {
  /** Makes sure that the account may use another key. @throws TooManyRequestsError */
  takeOne(clientId: number): Promise<void>;
  kept(clientId: number, bytes: number): void;
}

export function createKeyRoom(deps: { database: { sql: Sql }; clock: Clock }): KeyRoom {
  const { database, clock } = deps;
  const known = new Map<number, Promise<Held>>();

  async function count(clientId: number): Promise<Held> {
    const countedAt = performance.now();
    const { rows } = await sql<Omit<Held, 'countedAt'>>`
      select count(*)::int as keys, coalesce(sum(octet_length(body)), 0)::float8 as bytes,
        min(expires_at) as "firstEndsAt"
      from idempotency_keys where client_id = ${clientId} and expires_at > ${clock.now()}`.execute(database.sql);
    return { keys: 0, bytes: 0, firstEndsAt: null, ...rows[0], countedAt };
  }

  /** Those who ask at once wait for the same count. */
  async function heldBy(clientId: number): Promise<Held> {
    const before = known.get(clientId);
    const held = await before;
    if (held && performance.now() - held.countedAt < COUNTED_FOR_MS) return held;
    // Somebody else may have begun to count meanwhile.
    const begun = known.get(clientId);
    if (begun && begun !== before) return begun;
    if (known.size >= MOST_REMEMBERED) known.clear();
    const counting = count(clientId);
    known.set(clientId, counting);
    counting.catch(() => known.delete(clientId));
    return counting;
  }

  return {
    async takeOne(clientId) {
      const held = await heldBy(clientId);
      if (held.keys < MOST_KEYS && held.bytes < MOST_KEPT_BYTES) {
        held.keys++;
        return;
      }
      const endsAt = held.firstEndsAt ?? clock.now();
      const seconds = Math.max(1, Math.ceil((endsAt.getTime() - clock.now().getTime()) / 1000));
      throw new TooManyRequestsError(
        `The account has as many Idempotency-Keys as it may have at a time (${MOST_KEYS}, or ${MOST_KEPT_BYTES / 1_048_576} MiB of answers). Send the request without one, or again when the oldest has expired, in ${seconds} s`,
        seconds,
      );
    },
    kept(clientId, bytes) {
      void known.get(clientId)?.then(
        (held) => {
          held.bytes += bytes;
        },
        () => {},
      );
    },
  };
}

type Params = Record<string, string | number>;

/**
 * Returns the current version of a resource; undefined if it doesn't exist. `lock` keeps it until the transaction ends.
 */
export async function versionOf(db: Sql, resource: Versioned, params: Params, { lock }: { lock: boolean }) {
  const { table, uuid, within, field, memberships } = resource;
  if (uuid !== undefined && !isUuid(String(params[uuid]))) return undefined;
  const conditions = conditionsOf(resource, params);
  if (within) {
    const whole = sql.join(conditionsOf(within, params, hasId(resource)), sql` and `);
    conditions.push(sql`${sql.ref(within.column)} in (select id from ${sql.table(within.table)} where ${whole})`);
  }
  if (lock && memberships) {
    await sql`
      select from clients where id in (
        select client_id from ${sql.table(memberships.table)}
         where ${sql.ref(memberships.column)} = ${params[memberships.param]})
      order by id for no key update`.execute(db);
  }
  // Triggers raise it with every change of the row and of its parts.
  const version = sql.ref(field ?? 'revision');
  const { rows } = await sql<{ version: string }>`
    select ${version}::text as version from ${sql.table(table)}
    where ${sql.join(conditions, sql` and `)} ${lock ? sql`for no key update` : sql``}`.execute(db);
  return rows[0]?.version;
}

const hasId = ({ columns }: NamedRow): boolean => Object.values(columns).includes('id');

/** With `byId`, an ID finds the row, and the rest is only checked. */
function conditionsOf(row: NamedRow, params: Params, byId = hasId(row)) {
  return Object.entries(row.columns).map(([param, column]) => {
    const equal = sql`${sql.ref(column)} = ${params[param]}`;
    return byId && column !== 'id' ? onlyChecked(equal) : equal;
  });
}

export interface ChangingRequest extends ChangeRecord {
  /**
   * Asks that the change is made only to one of these versions of the resource; `'any'` to whatever is there.
   * @throws InvalidError where nothing has versions: to ignore what guards a change would be to make it
   */
  onlyVersions(versions: readonly string[] | 'any', resource: Versioned | undefined): void;
  /**
   * Makes sure that the change is made only once for that key. Returns the earlier answer, if any.
   * @throws UnprocessableError, ConflictError; TooManyRequestsError if the account has too many keys
   */
  once(key: string, body: unknown): Promise<Answer | undefined>;
  /** To be called before the answer is sent. */
  answering(answer: Answer): Promise<void>;
  /** To be called after the answer was sent. */
  answered(status: number): void;
  /** The resources that the change is about, the id of the one it made, and the tasks that it started. */
  readonly outcome: {
    about: readonly ActionResource[];
    made: string | undefined;
    tasks: readonly string[];
  };
}

/** What the database does for every request of a client. */
export interface RequestLog {
  /** @throws UnavailableError if too many requests that change something are waiting already */
  open(request: IncomingRequest): ChangingRequest;
  /** Records a request that was refused before it was opened. */
  turnedAway(request: IncomingRequest, status: number): void;
  versionRead(resource: Versioned, params: IncomingRequest['params']): Promise<string | undefined>;
}

export function createRequestLog(deps: {
  database: Database;
  clock: Clock;
  actionLog: Pick<ActionLog, 'record'>;
  refusals: Pick<Refusals, 'noteChange'>;
  /** Told that there are new events. */
  events: { wake(): void };
}): RequestLog {
  const { database, clock, actionLog, refusals, events } = deps;
  const keyRoom = createKeyRoom(deps);

  return {
    open(request) {
      const { principal } = request;
      database.requireRoom(principal.clientId);
      const action = actionOf(request, clock.now());
      let use: KeyUse | undefined;
      let wanted: { versions: readonly string[]; resource: Versioned } | undefined;
      let about: ActionResource[] = [];
      let made: string | undefined;
      let tasks: string[] = [];
      let done = false;

      async function requireVersion(tx: Transaction): Promise<void> {
        if (!wanted) return;
        const { versions, resource } = wanted;
        const version = await versionOf(tx.sql, resource, request.params, { lock: true });
        // If the resource doesn't exist, the work itself says so.
        if (version === undefined || versions.includes(version)) return;
        throw new PreconditionFailedError(
          `The resource at this address now has version "${version}", but If-Match asks for ${named(versions)}; read it again before you change it`,
        );
      }

      return {
        onlyVersions(versions, resource) {
          if (versions === 'any') return;
          if (!resource) {
            throw new InvalidError({
              'If-Match': ['The resource at this address has no version; leave this header out.'],
            });
          }
          wanted = { versions, resource };
        },
        async once(key, body) {
          use = {
            clientId: principal.clientId,
            userId: principal.userId,
            key,
            fingerprint: fingerprintOf(request.method, request.url, body),
            requestId: request.id,
          };
          await request.stillAdmitted(database.sql);
          const answer = await answerBefore(database.sql, use, clock.now());
          if (!answer) await keyRoom.takeOne(use.clientId);
          return answer;
        },
        async before(tx: Transaction) {
          if (done) return;
          // The work may start again after a deadlock.
          about = [];
          made = undefined;
          tasks = [];
          await request.stillAdmitted(tx.sql);
          if (use) await takeKey(tx, use, clock.now());
          await requireVersion(tx);
        },
        async after(tx: Transaction) {
          if (done) return;
          const published = publishedAs(request, about);
          const recorded = { ...action, ...published, outcome: 'accepted', status: request.success } as const;
          actionLog.record(tx, recorded, eventOf(request, action, { about, made }));
        },
        committed() {
          done = true;
          events.wake();
        },
        get oneVersion() {
          return wanted !== undefined;
        },
        concerns(clientId) {
          action.client_id = clientId;
        },
        about(resource) {
          about.push(resource);
        },
        made(id) {
          made = String(id);
        },
        started(taskId) {
          action.task_id = taskId;
          tasks.push(taskId);
        },
        async answering(answer) {
          if (!use) return;
          keyRoom.kept(use.clientId, Buffer.byteLength(answer.body));
          await keepAnswer(database.sql, use, { answer, taken: done, now: clock.now() });
        },
        get outcome() {
          return { about, made, tasks };
        },
        answered(status) {
          // What it started is undone.
          if (!done) refusals.noteChange({ ...action, task_id: null, ...aimOf(request), ...ending(status) });
        },
      };
    },

    turnedAway(request, status) {
      refusals.noteChange({ ...actionOf(request, clock.now()), ...aimOf(request), ...ending(status) });
    },

    versionRead: (resource, params) => versionOf(database.sql, resource, params, { lock: false }),
  };
}

function named(versions: readonly string[]): string {
  if (versions.length === 0) return 'weak tags only, which match no version';
  return `version ${versions.map((version) => `"${version}"`).join(', ')}`;
}

const ending = (status: number) => ({ outcome: outcomeOf(status), status });

function outcomeOf(status: number): NewUserAction['outcome'] {
  if (status < 400) return 'accepted';
  return status < 500 ? 'refused' : 'failed';
}
