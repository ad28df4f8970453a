import pLimit from 'p-limit';
import { lockProject } from '../../../cloud/ground/projects/in-transaction.ts';
import { removeEmpty } from '../../../cloud/network/project-changes/service.ts';
import { REMOVALS } from '../../../cloud/wings.ts';
import type { DeletionStep } from '../../../db/json-columns.ts';
import { DomainError, NotFoundError } from '../../../lib/errors.ts';
import { recordedBy } from '../../../lib/request-context.ts';
import type { Platform } from '../../../platform.ts';
import { callerOfDeletion } from '../../../requests/principal.ts';
import { recordOfDeletion, tell } from './caller.ts';
import { KINDS, kindOf } from './kinds.ts';
import { type Claimed, type Left, leftIn, lockOpen } from './store.ts';

/** The rest of the process needs connections too. */
const AT_ONCE = 4;

/** What one look at a project came to. */
export interface Look {
  isGone: boolean;
  /** Whether anything was deleted, or begun to be. */
  advanced: boolean;
  steps: DeletionStep[];
}

/**
 * Does the next thing for a project to go: deletes what nothing else needs, each by its own service and in its own
 * transaction, and the project when it is empty. Whoever continues later sees what is left in the database.
 */
export async function emptyProject(
  on: Platform,
  deletion: Claimed,
  projectId: number,
  signal: AbortSignal,
): Promise<Look> {
  const { counts, free } = await leftIn(on.database.sql, projectId);
  const inTurn = pLimit(AT_ONCE);
  const refusals = new Map<string, string>();
  let advanced = false;
  await Promise.all(
    free.map((left) =>
      inTurn(async () => {
        if (signal.aborted) return;
        const refusal = await removeOne(on, deletion, projectId, left);
        if (refusal === undefined) advanced = true;
        else refusals.set(left.kind, refusal);
      }),
    ),
  );
  const steps = stepsOf(projectId, counts, refusals);
  if (steps.length > 0 || signal.aborted) return { isGone: false, advanced, steps };
  const refusal = await refusalOf(removeProject(on, deletion, projectId));
  if (refusal === undefined) return { isGone: true, advanced: true, steps };
  return { isGone: false, advanced, steps: [waiting('project', projectId, refusal)] };
}

async function removeOne(on: Platform, deletion: Claimed, projectId: number, { kind, key, regionId, userId }: Left) {
  const region = regionId === null ? [...on.catalog.regions.values()][0] : on.catalog.regions.get(regionId);
  if (!region) return `region ${regionId} is not in the catalogue any more`;
  const caller = callerOfDeletion(deletion);
  const { clientId, requestId } = deletion;
  const principal = userId === null ? caller : { ...caller, userId };
  const scope = { projectId, regionId: region.id, region, clientId, principal, requestId };
  const record = recordOfDeletion(deletion, { projectId, regionId });
  const remove = REMOVALS[kindOf(kind).type];
  if (!remove) throw new TypeError(`Nothing removes ${kind}`);
  return refusalOf(recordedBy(record, () => remove(on, scope, key)));
}

/** Returns why it was refused; undefined if it was not, or is gone already. */
async function refusalOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}

function removeProject(on: Platform, deletion: Claimed, projectId: number): Promise<void> {
  const { database, catalog } = on;
  return database.transaction(async (tx) => {
    const project = await lockProject(tx, projectId);
    // The kit for testers takes deletions back.
    if (!project || !(await lockOpen(tx, deletion.taskId))) return;
    await removeEmpty(tx, project, catalog.regions);
    const place = { projectId, regionId: null, taskId: undefined };
    await tell(tx, deletion, { ...project, type: 'project' }, place);
  });
}

function stepsOf(
  projectId: number,
  counts: ReadonlyMap<string, number>,
  refusals: ReadonlyMap<string, string>,
): DeletionStep[] {
  return KINDS.flatMap(({ kind }): DeletionStep[] => {
    const count = counts.get(kind) ?? 0;
    if (count === 0) return [];
    const refusal = refusals.get(kind);
    if (refusal !== undefined) return [waiting(kind, projectId, `${count} left; ${refusal}`)];
    return [{ kind, id: String(projectId), state: 'doing', doing: `${count} left` }];
  });
}

const waiting = (kind: string, id: number, doing: string): DeletionStep => ({
  kind,
  id: String(id),
  state: 'waiting',
  doing,
});
