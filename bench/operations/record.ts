import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UNIQUE, uniqueText } from '../load/job.ts';
import { createApi } from '../support/api.ts';
import { benchFile } from '../support/child.ts';
import { startProduct } from '../support/product.ts';
import type { MeasuredRequest } from './operation.ts';
import { type Plan, planOf, type Recorded } from './plan.ts';
import { RECORD_HEADER, type RecordedStatement } from './recorded-statement.ts';

export interface Recorder {
  /** Sends the request three times: once to fill the product's caches, and twice for the recording. */
  record(request: MeasuredRequest): Promise<Plan>;
  stop(): Promise<void>;
}

/** Starts a separate product that records the statements that it sends. */
export async function startRecorder(databaseUrl: string): Promise<Recorder> {
  const product = await startProduct(
    { DATABASE_URL: databaseUrl },
    {
      nodeArgs: ['--import', 'tsx', '--import', benchFile('operations/sql-recorder.ts')],
      role: 'api',
      // The bundle has a driver of its own, which the recorder could not reach.
      program: 'src/main.ts',
    },
  );
  const api = createApi(product.port);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-record-'));
  const file = path.join(folder, 'statements.json');
  let calls = 0;

  function call({ method, paths, body }: MeasuredRequest, headers: Record<string, string>) {
    const at = paths[calls++ % paths.length] ?? '';
    const sent = body && JSON.parse(JSON.stringify(body).replaceAll(UNIQUE, uniqueText(calls)));
    return api.call(method, at, sent, headers);
  }
  async function recorded(request: MeasuredRequest): Promise<Recorded> {
    const answer = await call(request, { [RECORD_HEADER]: file });
    const statements = JSON.parse(fs.readFileSync(file, 'utf8')) as RecordedStatement[];
    await request.reset?.();
    return { answer, statements };
  }

  return {
    async record(request) {
      await call(request, {});
      await request.reset?.();
      const first = await recorded(request);
      return planOf(request.method, first, await recorded(request));
    },
    async stop() {
      await product.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
