import type { Endings } from '../convergence/waiting-tasks.ts';
import type { ListeningChangeFeed } from '../db/changes.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { createTaskEnds } from '../services.ts';
import type { TestKit, TestKitParts } from '../tradewind/test-kit/kit.ts';
import { createSnapshots } from '../tradewind/test-kit/snapshots.ts';
import { createWorkInProgress } from '../tradewind/test-kit/work.ts';

/** Puts together what the routes for tests need, where there is a kit. */
export function testKitParts(
  kit: TestKit | undefined,
  deps: Omit<Endings, 'kinds'> & { secrets: Secrets; changes: ListeningChangeFeed; normalSpeed: number },
): TestKitParts | undefined {
  if (!kit) return undefined;
  const { database, changes, normalSpeed } = deps;
  const kinds = new Map(createTaskEnds(deps).map((kind) => [kind.type, kind]));
  const work = createWorkInProgress({ ...deps, kinds });
  const snapshots = createSnapshots(database, () => changes.forgetAll());
  return { kit, snapshots, work, normalSpeed };
}
