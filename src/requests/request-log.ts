import { type Kysely, sql } from 'kysely';
import type { Database, Transaction } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { Clock } from '../lib/clock.ts';
import { InvalidError, PreconditionFailedError } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import type { ChangeRecord } from '../lib/request-context.ts';
import type { ActionResource } from '../lib/resources.ts';
import type { NamedRow, Versioned } from '../lib/versioned.ts';
import type { ActionLog } from './action-log.ts';
import { actionOf, publishedAs } from './action-of.ts';
import type { NewUserAction } from './action-store.ts';
import { aimOf, eventOf } from './event-of.ts';
import { type Answer, answerBefore, fingerprintOf, type KeyUse, keepAnswer, takeKey } from './idempotency.ts';
import type { IncomingRequest } from './incoming-request.ts';
import { createKeyRoom } from './key-room.ts';
import type { Refusals } from './refusals.ts';

type Params = Record<string, string | number>;

/**
 * Returns the current version of a resource; undefined if it doesn't exist. `lock` keeps it until the
 * transaction ends.
 */
export async function versionOf(
  db: Kysely<Tables>,
  resource: Versioned,
  params: Params,
  { lock }: { lock: boolean },
): Promise<string | undefined> {
  const { table, uuid, within, field, memberships } = resource;
  if (uuid !== undefined && !isUuid(String(params[uuid]))) return undefined;
  const conditions = conditionsOf(resource, params);
  if (within) {
    const whole = sql.join(conditionsOf(within, params), sql` and `);
    conditions.push(
      sql`${sql.ref(within.column)} in (select id from ${sql.table(within.table)} where ${whole})`,
    );
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

function conditionsOf({ columns }: NamedRow, params: Params) {
  return Object.entries(columns).map(([param, column]) => sql`${sql.ref(column)} = ${params[param]}`);
}

/** A request that changes something, and what is recorded of it. */
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
  /** Returns the version of the resource that a request reads. */
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
          await actionLog.record(tx, recorded, eventOf(request, action, { about, made }));
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
          if (!done) refusals.noteChange({ ...action, ...aimOf(request), ...ending(status) });
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
