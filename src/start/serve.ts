import fs from 'node:fs';
import { url as debuggerUrl, Session } from 'node:inspector';
import { setTimeout as sleep } from 'node:timers/promises';
import v8 from 'node:v8';
import { CATEGORIES, capabilitiesOf, takeInventory } from '../../engines/index.ts';
import type { Config } from '../config.ts';
import { createLog } from '../log.ts';
import { engineSettings } from './ai-worker.ts';
import { type Command, EXIT_USAGE, type Role } from './command.ts';
import { firstTokenFile } from './first-account.ts';
import { type RunningPlatform, startPlatform } from './platform.ts';

const LOOK_MS = 15_000;
/**
 * Looks in a row that found the process at rest: a minute. Giving memory back also drops compiled code: the next thousand
 * requests take up to a seventh longer. Clients that pause for seconds would pay for that again and again.
 */
const RESTS = 4;
/** Share of one processor between two looks; timers alone use 0.02 to 0.05, all in one. */
const REST_CPU = 0.06;
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
 * Returns a function that is told of the usage at each look and answers whether memory should be given back now.
 * After that, the heap must have grown before it is due again.
 */
export function restAfterWork(first: Usage): (now: Usage) => boolean {
  let last = first;
  let rests = 0;
  let kept = 0;
  let gaveBack = false;
  return (now) => {
    const busy = now.cpuMicros - last.cpuMicros > REST_CPU * LOOK_MS * 1_000;
    last = now;
    rests = busy ? 0 : rests + 1;
    // The look after giving back tells how small the heap is then.
    if (gaveBack) kept = now.heapBytes;
    gaveBack = rests >= RESTS && now.usedBytes <= MOST_ALIVE_BYTES && now.heapBytes - kept >= WORTH_BYTES;
    if (gaveBack) rests = 0;
    return gaveBack;
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

const MAKES_OTHERS = '"npx tradewind token create" creates more';

/** Returns what a person sees when Tradewind is ready: its address, the token, and a call to paste. */
export function readyMessage(
  { address, firstToken, consoleCode }: Pick<RunningPlatform, 'address' | 'firstToken' | 'consoleCode'>,
  config: Config,
): string {
  const { host, workerPort } = config;
  if (!address) {
    const tells = workerPort && `; http://${reachableHost(host)}:${workerPort}/readyz shows its state`;
    return `Tradewind is ready: this process takes tasks and serves no API${tells ?? ''}.\n`;
  }
  const base = `http://${reachableHost(address.host)}:${address.port}`;
  const call = (token: string) => `curl -H ${token} ${base}/cloud/v1/projects`;
  const token = aboutToken(firstToken, config, call);
  const signIn =
    consoleCode === undefined
      ? `Console: ${base}/console/ ("npx tradewind console" prints an address that signs you in)`
      : `Console: ${consoleAddress(base, consoleCode)}\nThe address signs you in once, within ten minutes; "npx tradewind console" prints another.`;
  const lines = [
    `Tradewind is ready at ${base} (reference: ${base}/docs)`,
    '',
    ...(config.console ? [signIn, ''] : []),
  ];
  return [...lines, ...token, ''].join('\n');
}

/** Browsers send nothing of what is behind the #. */
export const consoleAddress = (base: string, code: string): string => `${base}/console/#code=${code}`;

function aboutToken(first: RunningPlatform['firstToken'], config: Config, call: (token: string) => string): string[] {
  const withText = (token: string) => call(`'Authorization: apikey ${token}'`);
  const inFile = (file: string) => call(`"Authorization: apikey $(cat '${file.replaceAll("'", `'\\''`)}')"`);
  if (first && 'text' in first) {
    return [
      `API token: ${first.text}`,
      `It has full access and is not shown again; ${MAKES_OTHERS}.`,
      '',
      withText(first.text),
    ];
  }
  if (first && 'problem' in first) {
    return [
      `There is no API token yet: there is no terminal to show it on, and ${first.problem}.`,
      'Create one with "npx tradewind token create", or set TRADEWIND_BOOTSTRAP_TOKEN.',
      '',
      withText('<token>'),
    ];
  }
  if (config.bootstrapToken) return ['Use the token in TRADEWIND_BOOTSTRAP_TOKEN:', withText('<token>')];
  if (first) {
    return [
      `The API token is in ${first.file}, which only this user can read.`,
      `It has full access; ${MAKES_OTHERS}.`,
      '',
      inFile(first.file),
    ];
  }
  const file = firstTokenFile(config);
  if (fs.existsSync(file)) return [`Use the API token in ${file}:`, inFile(file)];
  return [
    'Use the API token shown at the first start, or create one with "npx tradewind token create":',
    withText('<token>'),
  ];
}

/** An address that means "all interfaces" can't be called. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

/** Returns one line about the AI tasks that this process can do. Never fails: Tradewind runs without engines. */
export async function enginesLine(config: Config): Promise<string> {
  if (config.ai.concurrency === 0) return '';
  try {
    const { transcription, categories } = capabilitiesOf(await takeInventory(engineSettings(config)));
    const able = [...(transcription ? [`transcription (${transcription.languages.join(', ')})`] : []), ...categories];
    const unable = [
      ...(transcription ? [] : ['transcription']),
      ...CATEGORIES.filter((category) => !categories.includes(category)),
    ];
    const missing =
      unable.length === 0 ? '' : `; not installed: ${unable.join(', ')} ("npx tradewind doctor" says why)`;
    return `AI tasks: ${able.join(', ') || 'none'}${missing}\n`;
  } catch {
    // The start of the engines reports the error.
    return '';
  }
}

/** How long running requests and backend calls may take before a stop goes on without them. */
const GRACE_MS = 10_000;
/** Additional time for the database to finish statements that nobody waits for. */
const LAST_WAIT_MS = 5_000;
const ROLES: readonly string[] = ['all', 'api', 'worker'] satisfies Role[];

export const serve: Command = {
  summary: 'run the API and its workers (the default)',
  help: '  --role all|api|worker   what this process does; several may share one database (default: all)\n',
  options: { role: { type: 'string', default: 'all' } },
  async run({ config, options, stop }) {
    const role = String(options.role);
    if (!ROLES.includes(role)) {
      process.stderr.write(`--role must be one of ${ROLES.join(', ')}\n`);
      return EXIT_USAGE;
    }
    if (role !== 'all' && config.databaseUrl === undefined) {
      process.stderr.write(
        `--role ${role} needs DATABASE_URL: processes that share the work must share one PostgreSQL\n`,
      );
      return 78;
    }
    if (role !== 'all' && config.testApi) {
      process.stderr.write('TRADEWIND_TEST_API needs --role all: its clock and its rules are known to one process\n');
      return 78;
    }
    if (role !== 'all' && config.seed) {
      process.stderr.write(
        'TRADEWIND_SEED needs --role all: the start waits for the tasks that it begins, and no other process may begin them too\n',
      );
      return 78;
    }
    const log = createLog(config);
    if (stop.aborted) {
      log.info(`Not started: ${stop.reason}`);
      return 0;
    }
    const terminal = process.stdout.isTTY;
    const platform = await startPlatform(config, role as Role, log, { terminal });
    process.stdout.write(readyMessage(platform, config));
    // This asks programs for their versions, for which nobody has to wait.
    if (role !== 'api') void enginesLine(config).then((line) => process.stdout.write(line));
    const idleMemory = giveBackIdleMemory();
    const stopped = new Promise<void>((resolve) => {
      stop.addEventListener('abort', () => resolve(), { once: true });
    });
    const refusal = stop.aborted ? undefined : await Promise.race([stopped, platform.outgrown]);
    if (refusal) log.error('Stopping: this release can no longer work with the schema of the database');
    else log.info(typeof stop.reason === 'string' ? `Stopping: ${stop.reason}` : 'Stopping');
    idleMemory.stop();
    const late = sleep(GRACE_MS + LAST_WAIT_MS, 'late' as const, { ref: false });
    if ((await Promise.race([platform.stop(GRACE_MS), late])) === 'late')
      log.warn('Stopping took too long; exiting now');
    if (refusal) throw refusal;
    return 0;
  },
};
