import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { beginRemoval, beginRemovalOfAll } from '../../cloud/ground/projects/in-transaction.ts';
import { getProject } from '../../cloud/ground/projects/service.ts';
import { beginWork, type TaskScope } from '../../cloud/ground/tasks/service.ts';
import { announce } from '../../db/changes.ts';
import type { Sql, Transaction } from '../../db/database.ts';
import * as accounts from '../../iam/accounts/service.ts';
import { refusePlatforms } from '../../iam/accounts/users/in-transaction.ts';
import { changeStatus } from '../../iam/clients/changes.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { found, newTaskId } from '../../lib/ids.ts';
import { noteAccount } from '../../lib/request-context.ts';
import * as wire from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import { DELETE_CLIENT, DELETE_CONTENTS, DELETIONS } from './tasks.ts';
import { KINDS } from './work/kinds.ts';

const CONFIRM_WITHIN_MS = 10 * 60_000;

/** Locks the account, so that it stays as it is until the transaction ends. */
async function lockDeletable(tx: Transaction, principal: Principal, clientId: number): Promise<accounts.WholeClient> {
  const client = await accounts.lockWholeClient(tx, clientId);
  if (!client || client.deletedAt || !accounts.resells(principal, client)) throw new NotFoundError('Client', clientId);
  noteAccount(clientId);
  if (clientId === principal.clientId) {
    throw new ConflictError(`Client ${clientId} is your own account; somebody else has to delete it`);
  }
  await refusePlatforms(tx.sql, clientId);
  const task = await accounts.deletingTask(tx.sql, clientId);
  if (task !== undefined) throw new ConflictError(`Client ${clientId} is being deleted by task ${task} already`);
  return client;
}

/** Begins to delete the account. Call it with the account locked. */
async function beginWith(
  on: Platform,
  tx: Transaction,
  scope: TaskScope,
  { clientId, data }: { clientId: number; data: object },
) {
  const now = tx.now;
  const id = newTaskId();
  const ended = await changeStatus(tx, clientId, 'paused');
  await beginRemovalOfAll(tx, clientId, id);
  await beginWork(on, tx, scope, { task: DELETE_CLIENT, id, data, input: {} });
  await insertDeletion(tx, { task_id: id, client_id: clientId, project_id: null, begun_at: now });
  await announce(tx.client, DELETIONS, '');
  return { id, ended };
}

/** The task belongs to the caller, since the deleted account can't have it. */
const ofCaller = (principal: Principal, requestId: string): TaskScope => ({
  principal,
  requestId,
  clientId: principal.clientId,
  projectId: null,
  regionId: null,
});

/**
 * Without a confirmation, says what would be deleted and gives one. With it, suspends the account and begins to delete
 * it with everything in it.
 * @throws NotFoundError; InvalidError for another confirmation or one that has expired; ConflictError for the caller's
 * own account, that of the platform or of a reseller, and one that is being deleted
 */
export async function deleteClient(
  on: Platform,
  principal: Principal,
  clientId: number,
  { confirmation }: ClientDeletionRequest,
  requestId: string,
): Promise<ClientDeletion> {
  if (confirmation === undefined) {
    const given = await on.database.accept(async (tx) => {
      refuseResellers(await lockDeletable(tx, principal, clientId));
      const contents = await contentsOf(tx.sql, clientId);
      const expires_at = new Date(tx.now.getTime() + CONFIRM_WITHIN_MS);
      const confirmation = randomBytes(18).toString('base64url');
      const kept = { confirmation: hashOf(confirmation), user_id: principal.userId, expires_at };
      await putConfirmation(tx, clientId, kept);
      return { confirmation, expires_at, contents };
    });
    return {
      client_id: clientId,
      contents: given.contents,
      confirmation: given.confirmation,
      confirm_until: given.expires_at.toISOString(),
      task_id: null,
    };
  }
  const begun = await on.database.accept(async (tx) => {
    refuseResellers(await lockDeletable(tx, principal, clientId));
    requireConfirmed(await takeConfirmation(tx, clientId), {
      confirmation,
      user_id: principal.userId,
      now: on.clock.now(),
    });
    const contents = await contentsOf(tx.sql, clientId);
    const data = { client_id: clientId };
    return { ...(await beginWith(on, tx, ofCaller(principal, requestId), { clientId, data })), contents };
  });
  on.authenticator.forget(begun.ended);
  const { contents } = begun;
  return { client_id: clientId, contents, confirmation: null, confirm_until: null, task_id: begun.id };
}

/**
 * Begins to delete a project with everything in it. Returns the ID of the task.
 * @throws NotFoundError, ConflictError for a default project and for one that is being deleted
 */
export async function deleteProjectWithContents(
  on: Platform,
  principal: Principal,
  projectId: number,
  requestId: string,
): Promise<string> {
  await getProject(on, principal, projectId);
  const taskId = await on.database.accept(async (tx) => {
    const id = newTaskId();
    const project = await beginRemoval(tx, projectId, id);
    tx.about({ ...project, type: 'project' });
    const { client_id: clientId } = project;
    await beginWork(
      on,
      tx,
      { principal, requestId, clientId, projectId, regionId: null },
      { task: DELETE_CONTENTS, id, data: { project_id: projectId }, input: {} },
    );
    const deletion = { task_id: id, client_id: clientId, project_id: projectId };
    await insertDeletion(tx, { ...deletion, begun_at: tx.now });
    await announce(tx.client, DELETIONS, '');
    return id;
  });
  on.projectRows.forget(projectId);
  return taskId;
}

/**
 * Begins to delete a reseller with its own account. Returns the ID of the task.
 * @throws ForbiddenError for all but the platform administrator, NotFoundError, ConflictError while the reseller has clients or its own account holds something, and for the
 * platform's reseller
 */
export async function deleteReseller(on: Platform, principal: Principal, resellerId: number, requestId: string) {
  accounts.requireResellerManager(principal);
  const begun = await on.database.accept(async (tx) => {
    const reseller = found('Reseller', resellerId, await accounts.lockReseller(tx, resellerId));
    const [own, ...others] = reseller.clients;
    const clients = own && !own.isOfReseller ? reseller.clients : others;
    if (clients.length > 0) {
      throw new ConflictError(
        `Reseller ${resellerId} has clients; delete these first, or give them to another reseller: ${clients.map(({ id }) => id).join(', ')}`,
      );
    }
    if (!own) throw new NotFoundError('Reseller', resellerId);
    await lockDeletable(tx, principal, own.id);
    const kept = await contentsOf(tx.sql, own.id);
    const held = kept.filter(({ kind }) => !OF_EVERY_ACCOUNT.has(kind));
    if (held.length > 0) {
      throw new ConflictError(
        `The reseller's own account ${own.id} still has ${held.map(({ kind, count }) => `${kind}: ${count}`).join('; ')}; delete them first`,
      );
    }
    const data = { reseller_id: resellerId, client_id: own.id };
    // At once, so that it gets no new clients.
    await accounts.markResellerDeleted(tx, resellerId);
    return beginWith(on, tx, ofCaller(principal, requestId), { clientId: own.id, data });
  });
  on.authenticator.forget(begun.ended);
  return begun.id;
}

const OF_EVERY_ACCOUNT = new Set(['projects', 'users', 'API tokens']);

function refuseResellers({ id, isOfReseller, resellerId }: accounts.WholeClient): void {
  if (!isOfReseller) return;
  throw new ConflictError(
    `Client ${id} is the own account of reseller ${resellerId}; the platform administrator can delete the reseller`,
  );
}

/** Whoever reads the database must not be able to delete accounts. */
const hashOf = (confirmation: string): string => hash('sha256', confirmation, 'hex');

/** The previous release kept the confirmation itself, of which no hash is as long. */
const isSame = (kept: string, given: string): boolean =>
  kept.length === given.length && timingSafeEqual(Buffer.from(kept), Buffer.from(given));

function requireConfirmed(
  known: Confirmation | undefined,
  given: { confirmation: string; user_id: number; now: Date },
): void {
  const isGood =
    known !== undefined &&
    isSame(known.confirmation, hashOf(given.confirmation)) &&
    known.user_id === given.user_id &&
    known.expires_at > given.now;
  if (isGood) return;
  throw new InvalidError({
    confirmation: ['Is not what you were given in the last ten minutes; send the request without it first.'],
  });
}

/** What goes unmentioned: subnets and rules, the switch of logging, and addresses. */
const UNTOLD: ReadonlySet<string> = new Set(['logging', 'reserved_fixed_ip', 'security_group_rule', 'subnet']);
/** What accounts are told of what they hold: not parts of other things. */
const CONTENTS = KINDS.filter(({ kind }) => !UNTOLD.has(kind));

/** Returns what there is in the projects of an account, and the account's own. */
export async function contentsOf(db: Sql, clientId: number): Promise<{ kind: string; count: number }[]> {
  const inProjects = CONTENTS.map(
    ({ many, rows, own }) => sql`
      select ${many}::text as kind, count(*)::int as count from ${sql.raw(rows)}
      where project_id in (select id from projects where client_id = ${clientId}) and ${sql.raw(own)}`,
  );
  const { rows } = await sql<{ kind: string; count: number }>`
    select kind, count from (
      select 'projects' as kind, count(*)::int as count from projects where client_id = ${clientId}
      union all ${sql.join(inProjects, sql` union all `)}
      union all select 'AI tasks', count(*)::int from ai_tasks where client_id = ${clientId}
      union all select 'users', count(*)::int from client_users where client_id = ${clientId}
      union all select 'API tokens', count(*)::int from api_tokens where client_id = ${clientId} and deleted_at is null
      union all select 'webhooks', count(*)::int from webhooks where client_id = ${clientId}
    ) as contents where count > 0`.execute(db);
  return rows;
}

export async function insertDeletion(
  tx: Transaction,
  deletion: {
    task_id: string;
    client_id: number;
    project_id: number | null;
    begun_at: Date;
  },
): Promise<void> {
  await tx.sql.insertInto('deletions').values(deletion).execute();
}

export interface Confirmation {
  user_id: number;
  confirmation: string;
  expires_at: Date;
}

/** An earlier one of the account is of no use any more. */
export async function putConfirmation(tx: Transaction, clientId: number, given: Confirmation): Promise<void> {
  await tx.sql
    .insertInto('deletion_confirmations')
    .values({ client_id: clientId, ...given })
    .onConflict((one) => one.column('client_id').doUpdateSet(given))
    .execute();
}

/** Returns the confirmation, which can't be used again. */
export async function takeConfirmation(tx: Transaction, clientId: number): Promise<Confirmation | undefined> {
  return tx.sql
    .deleteFrom('deletion_confirmations')
    .where('client_id', '=', clientId)
    .returning(['user_id', 'confirmation', 'expires_at'])
    .executeTakeFirst();
}

export const DeletedClientParams = Type.Object({ client_id: wire.IntegerId('Account') });
export const DeletedProjectParams = Type.Object({ project_id: wire.IntegerId('Project') });
export const DeletedResellerParams = Type.Object({ reseller_id: wire.IntegerId('Reseller') });

export const ClientDeletionRequest = wire.Input(
  'ClientDeletionRequest',
  {
    confirmation: wire.OptionalText({
      minLength: 1,
      maxLength: 100,
      description: '`confirmation` of an answer to the same user in the last ten minutes',
    }),
  },
  {},
);
export type ClientDeletionRequest = Static<typeof ClientDeletionRequest>;

const DeletedContents = wire.Named('DeletedContents', {
  kind: Type.String({ examples: ['instances'] }),
  count: Type.Integer(),
});
export type DeletedContents = Static<typeof DeletedContents>;

export const ClientDeletion = wire.Named('ClientDeletion', {
  client_id: Type.Integer(),
  contents: Type.Array(DeletedContents, { description: 'What is deleted with the account, if there is any' }),
  confirmation: wire.TextOrNull({ description: 'Send this to have all of it deleted; null once that has begun' }),
  confirm_until: wire.nullable(wire.Timestamp('Until when the confirmation is accepted')),
  task_id: wire.TextOrNull({ format: 'uuid', description: 'The task that deletes all of it' }),
});
export type ClientDeletion = Static<typeof ClientDeletion>;

export const ProjectDeletionQuery = wire.Query({
  contents: wire.OptionalFlag({
    default: false,
    description: 'Delete everything in the project too. Without it, the project has to be empty',
  }),
});
export type ProjectDeletionQuery = Static<typeof ProjectDeletionQuery>;

export const Deletion = wire.Named('Deletion', {
  task_id: Type.String({ format: 'uuid', description: 'The task that deletes it' }),
});
