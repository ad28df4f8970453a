const SHORTEST_SECONDS = 120;

/** How long the analysis of a medium may take by the clock on the wall: as long as it plays, but at least two minutes. */
export function wallSeconds(durationSeconds: number): number {
  return Math.max(SHORTEST_SECONDS, Math.ceil(durationSeconds));
}
