import type { Answer } from '../../support/http-client.ts';
import type { Kind, Scope, Worker } from './world.ts';

/**
 * Returns any thing of a kind that the scope's clients know, even a deleted one; often the newest, so that
 * many choose the same.
 */
export function anyOf({ random }: Worker, scope: Scope, kind: Kind): string | undefined {
  const ids = [...scope.known[kind].keys()];
  return random.chance(0.4) ? ids.at(-1) : random.pick(ids);
}

export const pathOf = (scope: Scope, family: string, id: string) => `/cloud/v1/${family}${scope.place}/${id}`;

/** Few names, so that many choose the same. */
export const sharedName = (worker: Worker, kind: string) => `${kind}-${worker.random.whole(1, 8)}`;

/** Renames and tags something at once; several do so to the same thing, each with its own tag. */
export async function rename(worker: Worker, what: string, path: string, counts = false): Promise<void> {
  const { random, world, mark } = worker;
  const body: { name?: string; tags?: Record<string, string> } = {};
  const value = `${mark}-${random.whole(1, 1_000_000_000)}`;
  if (random.chance(0.7)) body.tags = { [`tag-${random.whole(1, 12)}`]: value };
  else body.name = `name ${value}`;
  const { ok, span } = await worker.send(what, 'PATCH', path, body);
  if (!ok) return;
  for (const [key, tag] of Object.entries(body.tags ?? {})) world.ledger.wrote(path, `tags.${key}`, tag, span);
  if (body.name !== undefined) world.ledger.wrote(path, 'name', body.name, span);
  if (counts) world.ledger.changed(path);
}

/** Deletes something by a task, and soon forgets it. */
export async function removeByTask(
  worker: Worker,
  what: string,
  path: string,
  forget: () => void,
  then: (task: Answer['body']) => void = () => {},
): Promise<void> {
  const answer = await worker.send(what, 'DELETE', path);
  const [bare = ''] = path.split('?');
  if (answer.status === 404) forget();
  if (!answer.ok) return;
  // Others continue to use it for a while, like clients that don't know yet.
  if (worker.random.chance(0.5)) forget();
  await worker.follow(answer, (task) => {
    // It has waited until there was nothing to delete any more.
    if (task.data.waits_for) return;
    worker.world.ledger.removed(bare);
    then(task);
  });
}
