import { UnusableMediaError } from '../interfaces.ts';
import { type AnalysisMessage, readOrder } from '../job.ts';
import { createReport } from '../report.ts';
import { analyse } from './analysis.ts';

/**
 * The child that analyses one medium: told once, over the channel to the server that started it, and ended after its
 * last message. It has no database, no token, and an environment of its own.
 */

const MAX_REASON = 2_000;

async function obey(value: unknown): Promise<void> {
  const report = createReport(
    (message) => void send(message),
    () => performance.now(),
  );
  await send(await conclusionOf(value, report));
  process.exit();
}

async function conclusionOf(
  value: unknown,
  report: ReturnType<typeof createReport>,
): Promise<AnalysisMessage> {
  try {
    return { type: 'result', result: await analyse(readOrder(value), report) };
  } catch (error) {
    if (error instanceof UnusableMediaError) return { type: 'failed', reason: error.message };
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { type: 'fault', message: text.slice(0, MAX_REASON) || 'unknown' };
  }
}

/** Answers once the message is on its way. */
function send(message: AnalysisMessage): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, undefined, undefined, () => resolve());
  });
}

process.once('message', (value) => void obey(value));
// The server is gone: nobody wants the result. What this process started ends with it.
process.once('disconnect', () => process.exit());
