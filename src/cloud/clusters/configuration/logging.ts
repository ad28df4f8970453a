import type { FieldProblem } from '../../../lib/errors.ts';
import type { Logging } from './configuration.ts';
import type { LoggingInput } from './schema.ts';

const FIELD = 'logging.destination_region_id';

export interface LoggingContext {
  /** Regions that can store the logs of the cluster's region. */
  destinationRegionIds: readonly number[];
}

/** Returns the problems of a logging group. Older settings never prevent switching logging off. */
export function loggingProblems(
  given: LoggingInput,
  wanted: Logging,
  context: LoggingContext,
): FieldProblem[] {
  const { destinationRegionIds } = context;
  const offered =
    destinationRegionIds.length > 0
      ? `one of the destination regions: ${destinationRegionIds.join(', ')}`
      : 'a destination region, but this region has none, so logging is not available here';
  const destination = wanted.destination_region_id;
  if (destination === null) {
    return wanted.enabled
      ? [{ field: FIELD, message: `Is required to enable logging. Must be ${offered}.` }]
      : [];
  }
  const matters = wanted.enabled || typeof given.destination_region_id === 'number';
  return matters && !destinationRegionIds.includes(destination)
    ? [{ field: FIELD, message: `Unknown destination region ${destination}. Must be ${offered}.` }]
    : [];
}
