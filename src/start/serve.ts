import { setTimeout as sleep } from 'node:timers/promises';
import { CATEGORIES, capabilitiesOf, takeInventory } from '../../engines/index.ts';
import type { Config } from '../config.ts';
import { createLog } from '../log.ts';
import { engineSettings } from './ai-worker.ts';
import type { Command } from './command.ts';
import { EXIT_USAGE } from './exit-codes.ts';
import { giveBackIdleMemory } from './idle-memory.ts';
import { startPlatform } from './platform.ts';
import { readyMessage } from './ready-message.ts';
import type { Role } from './role.ts';

/**
 * Returns one line about the AI tasks that this process can do. Never fails: Tradewind runs without engines.
 */
export async function enginesLine(config: Config): Promise<string> {
  if (config.ai.concurrency === 0) return '';
  try {
    const { transcription, categories } = capabilitiesOf(await takeInventory(engineSettings(config)));
    const able = [
      ...(transcription ? [`transcription (${transcription.languages.join(', ')})`] : []),
      ...categories,
    ];
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
      process.stderr.write(
        'TRADEWIND_TEST_API needs --role all: its clock and its rules are known to one process\n',
      );
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
