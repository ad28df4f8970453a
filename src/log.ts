import { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

const LEVELS: Record<number, string> = { 20: 'debug', 30: 'info', 40: 'WARNING', 50: 'ERROR', 60: 'FATAL' };

/** Fields that must never be logged, wherever they occur. */
const SECRETS = [
  'authorization',
  'token',
  'password',
  'secret',
  '*.authorization',
  '*.token',
  '*.password',
  '*.secret',
];

/**
 * Creates a log on standard error: lines for people, or JSON for machines. Standard output is for the ready message.
 */
export function createLog(config: Pick<Config, 'logLevel' | 'logFormat'>): Logger {
  const destination = config.logFormat === 'json' ? jsonLines() : humanLines();
  return pino({ level: config.logLevel, base: null, redact: SECRETS }, destination);
}

/** Returns the same log for lines that can't contain secrets: searching a line costs as much as writing it. */
export function accessLogOf(log: Logger): Logger {
  return log.child({}, { redact: [] });
}

function jsonLines() {
  const destination = pino.destination({ dest: 2, sync: true });
  // A closed terminal must not end the process.
  destination.on('error', () => {});
  return destination;
}

function humanLines(): Writable {
  return new Writable({
    write(line, _encoding, done) {
      process.stderr.write(humanLine(JSON.parse(String(line)) as Entry), done);
    },
  });
}

/** A log line of pino: its own fields, and those of the caller. */
interface Entry {
  level: number;
  time: number;
  msg?: string;
  reqId?: string;
  err?: { message?: string; stack?: string };
  [detail: string]: unknown;
}

function humanLine(entry: Entry): string {
  const { level, time, msg = '', err: error, reqId, ...rest } = entry;
  const details = Object.entries(rest).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const request = reqId === undefined ? '' : ` request=${reqId}`;
  const when = new Date(time).toISOString().slice(0, 19);
  const cause = error ? `\n${error.stack ?? error.message ?? ''}` : '';
  return `${when} ${LEVELS[level] ?? level} ${msg}${request}${details.join('')}${cause}\n`;
}
