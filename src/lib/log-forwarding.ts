import type { FieldProblem } from './errors.ts';

const FIELD = 'logging.destination_region_id';

/** Where a resource sends its logs. */
export interface LogForwarding {
  enabled: boolean;
  destination_region_id: number | null;
  topic_name: string | null;
  /** `period` is in days. */
  retention_policy: { period: number | null } | null;
}

/** What a request says of it. */
export type LogForwardingInput = { [Field in keyof LogForwarding]?: LogForwarding[Field] | undefined };

export interface LoggingContext {
  /** Regions that can store the logs of the resource's region. */
  destinationRegionIds: readonly number[];
}

/** Returns the settings after a request. Logging that is enabled without a topic gets the default one. */
export function mergedForwarding(
  current: LogForwarding | null,
  given: LogForwardingInput,
  defaultTopic: string,
): LogForwarding {
  const before = current ?? {
    enabled: false,
    destination_region_id: null,
    topic_name: null,
    retention_policy: null,
  };
  const merged = { ...before, ...given } as LogForwarding;
  return merged.enabled && merged.topic_name === null ? { ...merged, topic_name: defaultTopic } : merged;
}

/** Returns the problems of a logging group. Older settings never prevent switching logging off. */
export function loggingProblems(
  given: LogForwardingInput,
  wanted: LogForwarding,
  context: LoggingContext,
): FieldProblem[] {
  const { destinationRegionIds } = context;
  const offered =
    destinationRegionIds.length > 0
      ? `one of the destination regions: ${destinationRegionIds.join(', ')}`
      : 'a destination region, but this region has none, so logging is not available here';
  const destination = wanted.destination_region_id;
  if (destination === null) {
    return wanted.enabled ? [{ field: FIELD, message: `Is required to enable logging. Must be ${offered}.` }] : [];
  }
  const matters = wanted.enabled || typeof given.destination_region_id === 'number';
  return matters && !destinationRegionIds.includes(destination)
    ? [{ field: FIELD, message: `Unknown destination region ${destination}. Must be ${offered}.` }]
    : [];
}
