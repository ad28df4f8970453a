import fs from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Runs the longest files first, so that none of them runs alone in the end. A fresh clone knows no durations: whole stories
 * take longer than features, and those of OpenStack longest.
 * Files that borrow a service come last, one after another: it costs something also while nobody has it.
 */
export class StoriesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const ranked = sorted.map((file) => ({ file, rank: rankOf(file) }));
    return ranked.toSorted((one, other) => one.rank - other.rank).map(({ file }) => file);
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  if (fs.readFileSync(moduleId, 'utf8').includes('borrowService()')) return 2;
  if (moduleId.includes('/test/openstack/openstack')) return -1;
  return moduleId.includes('/test/acceptance/') ? 0 : 1;
}
