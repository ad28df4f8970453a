import { url as debuggerUrl, Session } from 'node:inspector';
import v8 from 'node:v8';

const LOOK_MS = 1_000;
/** Looks in a row that found the process at rest. */
const RESTS = 3;
/** Share of one processor; timers alone use less. */
const REST_CPU = 0.03;
/** Clients that ask now and then meet the pause seldom. */
const BETWEEN_LOOKS = 60;
/** Less isn't worth the pause. */
const WORTH_BYTES = 16 * 2 ** 20;
/** The pause grows with what is alive: some 0.2 s for 35 MB. */
const MOST_ALIVE_BYTES = 128 * 2 ** 20;

/** What a process uses: CPU time so far, and the sizes of V8's heap and of what it holds. */
export interface Usage {
  cpuMicros: number;
  heapBytes: number;
  usedBytes: number;
}

/**
 * Gives memory back to the system when the process rests after work: V8 keeps what it took for a burst, and collects
 * garbage only while something is allocated. Busy processes are left alone.
 */
export function giveBackIdleMemory(): { stop(): void } {
  const isDue = restAfterWork(usageNow());
  const timer = setInterval(() => {
    if (isDue(usageNow())) releaseMemory();
  }, LOOK_MS).unref();
  return { stop: () => clearInterval(timer) };
}

/**
 * Returns a function that is told of the usage every second and answers whether memory should be given back now.
 * After that, the heap must have grown before it is due again.
 */
export function restAfterWork(first: Usage): (now: Usage) => boolean {
  let last = first;
  let rests = 0;
  let kept = 0;
  let sinceGivenBack = BETWEEN_LOOKS;
  return (now) => {
    const busy = now.cpuMicros - last.cpuMicros > REST_CPU * LOOK_MS * 1_000;
    last = now;
    rests = busy ? 0 : rests + 1;
    // The look after giving back tells how small the heap is then.
    if (++sinceGivenBack === 1) kept = now.heapBytes;
    if (rests < RESTS || sinceGivenBack < BETWEEN_LOOKS) return false;
    if (now.usedBytes > MOST_ALIVE_BYTES || now.heapBytes - kept < WORTH_BYTES) return false;
    sinceGivenBack = 0;
    return true;
  };
}

function usageNow(): Usage {
  const { user, system } = process.cpuUsage();
  const { total_heap_size, used_heap_size } = v8.getHeapStatistics();
  return { cpuMicros: user + system, heapBytes: total_heap_size, usedBytes: used_heap_size };
}

/** This is what tells V8 that memory is short; gc() keeps the young generation and the pages of the old one. */
function releaseMemory(): void {
  // The end of a session ends heap recordings of the others, too: those of whoever debugs the process.
  if (debuggerUrl() !== undefined) return;
  const session = new Session();
  session.connect();
  // Disconnecting inside the answer would hang.
  session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()));
}
