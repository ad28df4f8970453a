import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { ChangeFeed } from '../db/changes.ts';
import type { Database } from '../db/database.ts';
import { analysisProgram } from '../engines/analysis-program.ts';
import { capabilitiesOf, takeInventory } from '../engines/inventory.ts';
import { DEFAULT_SETTINGS, type EngineSettings } from '../engines/settings.ts';
import { systemClock } from '../lib/clock.ts';
import { parseAllowedHosts } from '../streaming/ai-tasks/fetching/allowed-hosts.ts';
import { confined } from '../streaming/ai-tasks/work/confinement.ts';
import { type AiWorker, startAiWorker } from '../streaming/ai-tasks/work/worker.ts';

/** Where the engines are, by the settings. */
export function engineSettings({ ai, searchPath }: Config): EngineSettings {
  return { ...DEFAULT_SETTINGS, searchPath, modelDir: ai.modelDir ?? null };
}

/** Takes AI tasks in this process, if the settings let it. */
export async function startAiWork(deps: {
  config: Config;
  database: Database;
  changes: ChangeFeed;
  log: Logger;
  takeOverAllAtStart: boolean;
}): Promise<AiWorker | undefined> {
  const { config, ...others } = deps;
  const { ai, searchPath, temporaryDir } = config;
  if (ai.concurrency === 0) return undefined;
  const settings = engineSettings(config);
  const program = analysisProgram(settings);
  return startAiWorker({
    ...others,
    clock: systemClock,
    capabilities: capabilitiesOf(await takeInventory(settings)),
    program: { ...program, command: confined(program.command, searchPath) },
    fetching: {
      limits: ai.media,
      allowedHosts: parseAllowedHosts(ai.allowedHosts) ?? { allows: () => false },
    },
    folder: temporaryDir,
    concurrency: ai.concurrency,
    perClient: ai.perClient,
  });
}
