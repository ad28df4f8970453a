import fs from 'node:fs';
import { createInterface } from 'node:readline';
import { UnusableMediaError } from '../interfaces.ts';
import { type AnalysisMessage, MESSAGES, readOrder } from '../job.ts';
import { createReport } from '../report.ts';
import { analyse } from './analysis.ts';

/**
 * The child that analyses one medium. It gets one order on its standard input, and exits after its last
 * message. It has no database, no token, and its own environment.
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

/** Writes synchronously: the server reads all the time. */
function send(message: AnalysisMessage): void {
  fs.writeFileSync(MESSAGES, `${JSON.stringify(message)}\n`);
}

const orders = createInterface({ input: process.stdin });
orders.once('line', (line) => void obey(line));
// The server is gone, so nobody wants the result. The programs that this process started end with it.
orders.once('close', () => process.exit());
