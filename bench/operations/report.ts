import { markdownTable, shown } from '../support/table.ts';
import type { Comparison } from './rounds.ts';

/** Returns the table for the README. */
export function comparisonTable(results: readonly Comparison[]): string {
  return markdownTable(
    ['Operation', 'SQL', 'req/s', 'p50 ms', 'p99 ms', 'CPU µs', 'floor req/s', 'floor CPU µs', 'ratio', 'target'],
    results.map(({ name, statements, product, floor, ratio, target }) => [
      name,
      String(statements),
      shown(product.requestsPerSecond),
      shown(product.p50),
      shown(product.p99),
      shown(product.cpuMicros),
      shown(floor.requestsPerSecond),
      shown(floor.cpuMicros),
      ratio.toFixed(2),
      targetText(ratio, statements, target),
    ]),
  );
}

/**
 * Without statements there is no common work to compare: the floor is then a handler with a constant answer.
 */
function targetText(ratio: number, statements: number, target: number): string {
  if (statements === 0) return 'none (no SQL)';
  return `${ratio < target ? 'MISSED ' : ''}${target.toFixed(1)}`;
}
