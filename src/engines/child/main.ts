import fs from 'node:fs';
import { createInterface } from 'node:readline';
import { UnusableMediaError } from '../interfaces.ts';
import { type AnalysisMessage, MESSAGES, readOrder } from '../job.ts';
import { createReport } from '../report.ts';
import { analyse } from './analysis.ts';

/**
 * The child that analyses one medium: told once, on its standard input, and ended after its last message. It has no
 * database, no token, and an environment of its own.
 */

const MAX_REASON = 2_000;

async function obey(line: string): Promise<void> {
  const report = createReport(send, () => performance.now());
  send(await conclusionOf(line, report));
  process.exit();
}

async function conclusionOf(line: string, report: ReturnType<typeof createReport>): Promise<AnalysisMessage> {
  try {
    return { type: 'result', result: await analyse(readOrder(JSON.parse(line)), report) };
  } catch (error) {
    if (error instanceof UnusableMediaError) return { type: 'failed', reason: error.message };
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { type: 'fault', message: text.slice(0, MAX_REASON) || 'unknown' };
  }
}

/** Waits until it is written: the server reads all the time. */
function send(message: AnalysisMessage): void {
  fs.writeFileSync(MESSAGES, `${JSON.stringify(message)}\n`);
}

const orders = createInterface({ input: process.stdin });
orders.once('line', (line) => void obey(line));
// The server is gone: nobody wants the result. What this process started ends with it.
orders.once('close', () => process.exit());
