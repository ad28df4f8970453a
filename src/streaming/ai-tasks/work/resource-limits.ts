import os from 'node:os';
import { type AnalysisLimits, DEFAULT_LIMITS } from '../../../engines/job.ts';

/** What the operator lets an analysis take. */
export interface Effort {
  /** How many times as long as its medium plays it may last, by the clock on the wall. */
  timeFactor: number;
  /** Memory of the child that analyses; each program that it starts gets half as much. */
  memoryBytes: number;
}

export interface ResourceLimits {
  wallSeconds(mediumSeconds: number): number;
  /** Of what the child starts. */
  analysis: AnalysisLimits;
  /** Of the child itself: it outlives what it starts, and may compute on all processors. */
  child: {
    cpuSeconds: number;
    memoryBytes: number;
    /** Of all its files together. */
    writtenBytes: number;
    /** Its own and those that it starts, threads included. */
    processes: number;
  };
}

/** Engines compute on all processors, several libraries with threads of their own. */
const PROCESSES = 128;
const PROCESSES_PER_PROCESSOR = 8;
const SHORTEST_SECONDS = 120;

export function resourceLimits({ timeFactor, memoryBytes }: Effort): ResourceLimits {
  const wallSeconds = (mediumSeconds: number) =>
    Math.max(SHORTEST_SECONDS, Math.ceil(mediumSeconds * timeFactor));
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
