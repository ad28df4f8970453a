import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { ChangeFeed } from '../db/changes.ts';
import type { Database } from '../db/database.ts';
import { analysisProgram } from '../engines/analysis-program.ts';
import { capabilitiesOf, takeInventory } from '../engines/inventory.ts';
import type { EngineSettings } from '../engines/settings.ts';
import { systemClock } from '../lib/clock.ts';
import type { AiCapabilities } from '../streaming/ai-tasks/capabilities.ts';
import { parseAllowedHosts } from '../streaming/ai-tasks/fetching/allowed-hosts.ts';
import { confined } from '../streaming/ai-tasks/work/confinement.ts';
import { workLimits } from '../streaming/ai-tasks/work/limits.ts';
import { type AiWorker, startAiWorker } from '../streaming/ai-tasks/work/worker.ts';

/** Where the engines are, by the settings. */
export function engineSettings({ ai, searchPath }: Config): EngineSettings {
  return { ...ai.engines, searchPath, modelDir: ai.modelDir ?? null };
}

/** What this process can do; undefined where the settings keep it from AI tasks. */
export async function aiCapabilities(config: Config): Promise<AiCapabilities | undefined> {
  if (config.ai.concurrency === 0) return undefined;
  return capabilitiesOf(await takeInventory(engineSettings(config)));
}

/** Takes AI tasks in this process. */
export function startAiWork(deps: {
  config: Config;
  capabilities: AiCapabilities;
  database: Database;
  changes: ChangeFeed;
  log: Logger;
  takeOverAllAtStart: boolean;
}): Promise<AiWorker> {
  const { config, ...others } = deps;
  const { ai, searchPath, temporaryDir } = config;
  const program = analysisProgram(engineSettings(config));
  const limits = workLimits(ai.effort);
  return startAiWorker({
    ...others,
    clock: systemClock,
    program: { ...program, command: confined(program.command, searchPath, limits.child) },
    fetching: {
      limits: ai.media,
      allowedHosts: parseAllowedHosts(ai.allowedHosts) ?? { allows: () => false },
    },
    limits,
    folder: temporaryDir,
    concurrency: ai.concurrency,
    perClient: ai.perClient,
  });
}
