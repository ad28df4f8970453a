import { markdownTable, shown } from '../support/table.ts';
import type { Comparison } from './rounds.ts';

/** A comparison with the floor. */
export interface AgainstFloor extends Comparison {
  statements: number;
  /** How often the product waits for the database. */
  trips: number;
  target: number;
}

/** Returns the table for the README. */
export function floorTable(results: readonly AgainstFloor[]): string {
  return markdownTable(
    [
      'Operation',
      'SQL',
      'trips',
      'req/s',
      'p50 ms',
      'p99 ms',
      'CPU µs',
      'floor req/s',
      'floor CPU µs',
      'ratio',
      'target',
    ],
    results.map(({ name, statements, trips, product, other: floor, ratio, spread, target }) => [
      name,
      String(statements),
      String(trips),
      shown(product.requestsPerSecond),
      shown(product.p50),
      shown(product.p99),
      shown(product.cpuMicros),
      shown(floor.requestsPerSecond),
      shown(floor.cpuMicros),
      ratioText(ratio, spread),
      targetText(ratio, statements, target),
    ]),
  );
}

/** Returns the table of a comparison with another checkout. */
export function checkoutsTable(results: readonly Comparison[]): string {
  return markdownTable(
    ['Operation', 'req/s', 'p50 ms', 'p99 ms', 'CPU µs', 'other req/s', 'other p50', 'other p99', 'other CPU', 'ratio'],
    results.map(({ name, product, other, ratio, spread }) => [
      name,
      ...[product, other].flatMap(({ requestsPerSecond, p50, p99, cpuMicros }) =>
        [requestsPerSecond, p50, p99, cpuMicros].map(shown),
      ),
      ratioText(ratio, spread),
    ]),
  );
}

const ratioText = (ratio: number, [least, most]: Comparison['spread']) =>
  `${ratio.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`;

/**
 * Without statements there is no common work to compare: the floor is then a handler with a constant answer.
 */
function targetText(ratio: number, statements: number, target: number): string {
  if (statements === 0) return 'none (no SQL)';
  return `${ratio < target ? 'MISSED ' : ''}${target.toFixed(1)}`;
}
