import { createTaskEnds } from '../build-platform.ts';
import type { Catalog } from '../cloud/ground/catalog/service.ts';
import type { Endings } from '../convergence/waiting-tasks.ts';
import type { ListeningChangeFeed } from '../db/changes.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { deletionTasks } from '../tradewind/deletions/tasks.ts';
import type { TestKit, TestKitParts } from '../tradewind/test-kit/kit.ts';
import { leaveNothing } from '../tradewind/test-kit/leftovers.ts';
import { createPartialReset } from '../tradewind/test-kit/partial-reset.ts';
import { createSnapshots } from '../tradewind/test-kit/snapshots.ts';
import { createTurns } from '../tradewind/test-kit/turns.ts';
import { createWorkInProgress } from '../tradewind/test-kit/work.ts';

/** Puts together what the routes for tests need, where there is a kit. */
export function testKitParts(
  kit: TestKit | undefined,
  deps: Omit<Endings, 'taskEnds'> & {
    secrets: Secrets;
    changes: ListeningChangeFeed;
    catalog: Pick<Catalog, 'regions'>;
    normalSpeed: number;
  },
): TestKitParts | undefined {
  if (!kit) return undefined;
  const { database, changes, normalSpeed } = deps;
  const taskEnds = createTaskEnds(deps);
  const work = createWorkInProgress({ ...deps, taskEnds });
  const alone = createTurns(database);
  const snapshots = createSnapshots(database, alone, async ({ gone, there }) => {
    kit.calls.allow(there);
    changes.forgetAll();
    await leaveNothing({ calls: kit.calls, database }, gone);
  });
  const partial = createPartialReset({ ...deps, calls: kit.calls, alone });
  return { kit, snapshots, partial, work, taskTypes: typesUnderRules(taskEnds.keys()), normalSpeed };
}

/** Deletions with contents want nothing of a backend themselves: no rule ever reaches them. */
function typesUnderRules(types: Iterable<string>): ReadonlySet<string> {
  const ofDeletions = new Set(deletionTasks().map(({ type }) => type));
  return new Set([...types].filter((type) => !ofDeletions.has(type)));
}
