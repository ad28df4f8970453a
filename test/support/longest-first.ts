import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take a minute or more. A fresh clone has no durations, and one of these started last would run alone. */
const LONGEST = [
  'test/acceptance/event-loop.test.ts',
  'test/acceptance/faults/faults.test.ts',
  'test/engines/quality.test.ts',
  'test/acceptance/ai-tasks.test.ts',
  'test/clients/schemathesis.test.ts',
  'test/clients/go-sdk.test.ts',
  'test/acceptance/embedded.test.ts',
  'test/acceptance/package.test.ts',
  'test/acceptance/rolling-upgrade.test.ts',
  'test/acceptance/concurrency.test.ts',
  'test/acceptance/documents.test.ts',
  'test/backends/cluster-api.test.ts',
  'test/acceptance/hosted.test.ts',
  'test/acceptance/hosted-groups.test.ts',
  'test/backends/hosted.test.ts',
  'test/backends/applying.test.ts',
  'test/acceptance/kills.test.ts',
  'test/acceptance/secrets.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const found = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return found === -1 ? LONGEST.length : found;
    };
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
