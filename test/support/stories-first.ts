import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Runs the longest files first, so that none of them runs alone in the end. A fresh clone knows no durations: whole stories
 * take longer than features.
 */
export class StoriesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => (moduleId.includes('/test/acceptance/') ? 0 : 1);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
