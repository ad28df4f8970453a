// Loaded into the product with --import, but only for the recording: the measured product runs without it.
import { AsyncLocalStorage } from 'node:async_hooks';
import fs from 'node:fs';
import http from 'node:http';
import pg from 'pg';
import { RECORD_HEADER, type RecordedStatement, type RecordedValue } from './recorded-statement.ts';

interface Recording {
  statements: RecordedStatement[];
  unanswered: number;
}

const current = new AsyncLocalStorage<Recording>();

type Call = (...args: unknown[]) => unknown;

const servers = http.Server.prototype as unknown as { emit: Call };
const { emit } = servers;
servers.emit = function (this: object, event, ...args) {
  const file = event === 'request' ? (args[0] as http.IncomingMessage).headers[RECORD_HEADER] : undefined;
  if (typeof file !== 'string') return emit.apply(this, [event, ...args]);
  const recording: Recording = { statements: [], unanswered: 0 };
  const response = args[1] as http.ServerResponse;
  const end = response.end.bind(response);
  response.end = ((...given: Parameters<typeof end>) => {
    fs.writeFileSync(file, JSON.stringify(recording.statements));
    return end(...given);
  }) as typeof response.end;
  return current.run(recording, () => emit.apply(this, [event, ...args]));
};

const clients = pg.Client.prototype as unknown as { query: Call };
const { query } = clients;
clients.query = function (this: object, ...args) {
  const recording = current.getStore();
  if (!recording) return query.apply(this, args);
  const statement = statementOf(args, recording.unanswered === 0);
  recording.statements.push(statement);
  recording.unanswered++;
  const answered = (result?: pg.QueryResult) => {
    recording.unanswered--;
    statement.firstRow = textsIn(result?.rows?.[0] ?? {});
  };
  const callback = args.at(-1);
  if (typeof callback === 'function') {
    const told = (error: unknown, result: pg.QueryResult) => {
      answered(result);
      callback(error, result);
    };
    return query.apply(this, [...args.slice(0, -1), told]);
  }
  const result = query.apply(this, args) as Promise<pg.QueryResult>;
  result.then(answered, () => answered());
  return result;
};

function statementOf([first, second]: unknown[], waited: boolean): RecordedStatement {
  const config = (typeof first === 'string' ? { text: first } : first) as {
    name?: string;
    text: string;
    values?: unknown[];
  };
  const values = config.values ?? (Array.isArray(second) ? second : []);
  return {
    ...(config.name !== undefined && { name: config.name }),
    text: config.text,
    values: values.map(recordedValue),
    waited,
    firstRow: {},
  };
}

function recordedValue(value: unknown): RecordedValue {
  if (value instanceof Date) return { kind: 'now' };
  if (Buffer.isBuffer(value)) return { kind: 'bytes', base64: value.toString('base64') };
  return { kind: 'plain', value };
}

function textsIn(row: object): Record<string, string> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => typeof value === 'string'));
}
