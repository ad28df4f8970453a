import fs from 'node:fs';
import { pino } from 'pino';
import { expect } from 'vitest';
import { type ClientResult, clientResult, clientResultFile } from '../../scripts/compatibility/clients.ts';
import { SDK_OPERATIONS_FILE } from '../../scripts/compatibility/not-served.ts';
import { createOperationFinder } from './coverage.ts';
import { documentedOperations } from './openapi.ts';
import { startService, type TestService } from './service.ts';

/** Compares a client's results with docs/reference/compatibility.md, or writes them down if told to. */
export function record(name: string, result: ClientResult): void {
  if (process.env.TRADEWIND_WRITE_CLIENTS) {
    fs.writeFileSync(clientResultFile(name), `${JSON.stringify(result, null, 2)}\n`);
    return;
  }
  const known = clientResult(name);
  const expected = result.seen === undefined ? known : { ...known, seen: result.seen };
  expect(result, 'docs/reference/compatibility.md says otherwise; "npm run clients" writes it anew').toEqual(expected);
}

/** Compares what the SDK calls with what the list of unserved paths is made from, or writes it down if told to. */
export function recordSdkOperations(calls: Record<string, string>): void {
  if (process.env.TRADEWIND_WRITE_CLIENTS) {
    fs.writeFileSync(SDK_OPERATIONS_FILE, `${JSON.stringify(calls, null, 2)}\n`);
    return;
  }
  const known = JSON.parse(fs.readFileSync(SDK_OPERATIONS_FILE, 'utf8'));
  expect(calls, 'the SDK calls something else by now; "npm run clients" writes it anew').toEqual(known);
}

/** Parses JSON log lines to find out which operations succeeded. */
export async function createOperationLog() {
  const find = createOperationFinder(await documentedOperations());
  let called = new Set<string>();
  return {
    read(line: string): void {
      const { method, path, status } = JSON.parse(line);
      const operation = status < 300 && find(method, path);
      if (operation) called.add(operation.title);
    },
    /** Returns the operations, sorted and without duplicates, and clears them. */
    take(): string[] {
      const taken = [...called].toSorted();
      called = new Set();
      return taken;
    },
  };
}

/** Starts a service that remembers which operations succeeded. */
export async function startWatchedService(settings: Record<string, string> = {}) {
  const operations = await createOperationLog();
  const log = pino({ level: 'info' }, { write: operations.read });
  const service: TestService = await startService({ TRADEWIND_ACCESS_LOG: 'on', ...settings }, { log });
  return { ...service, takeOperations: operations.take };
}
