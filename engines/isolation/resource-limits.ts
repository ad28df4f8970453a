import os from 'node:os';
import { type AnalysisLimits, DEFAULT_LIMITS } from '../job.ts';

/** What the operator allows an analysis to use. */
export interface Effort {
  /** The longest duration of an analysis in elapsed time, as a multiple of the medium's length. */
  timeFactor: number;
  /** Memory of the analysing child; each program that it starts gets half as much. */
  memoryBytes: number;
}

export interface ResourceLimits {
  wallSeconds(mediumSeconds: number): number;
  /** Limits of what the child starts. */
  analysis: AnalysisLimits;
  /** Limits of the child itself: it outlives what it starts, and may compute on all processors. */
  child: {
    cpuSeconds: number;
    memoryBytes: number;
    /** For all of its files together. */
    writtenBytes: number;
    /** Its own processes and those that it starts, including threads. */
    processes: number;
  };
}

/** Engines compute on all processors, and several libraries have their own threads. */
const PROCESSES = 128;
const PROCESSES_PER_PROCESSOR = 8;
const SHORTEST_SECONDS = 120;

export function resourceLimits({ timeFactor, memoryBytes }: Effort): ResourceLimits {
  const wallSeconds = (mediumSeconds: number) => Math.max(SHORTEST_SECONDS, Math.ceil(mediumSeconds * timeFactor));
  const processors = os.availableParallelism();
  const longest = wallSeconds(DEFAULT_LIMITS.durationSeconds);
  return {
    wallSeconds,
    analysis: {
      ...DEFAULT_LIMITS,
      wallSeconds: longest,
      cpuSeconds: longest,
      memoryBytes: Math.floor(memoryBytes / 2),
    },
    child: {
      cpuSeconds: longest * processors,
      memoryBytes,
      writtenBytes: DEFAULT_LIMITS.writtenBytes,
      processes: PROCESSES + PROCESSES_PER_PROCESSOR * processors,
    },
  };
}
