import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { ChangeFeed } from '../db/changes.ts';
import type { Database } from '../db/database.ts';
import { analysisProgram, filesOfAnalysis } from '../engines/analysis-program.ts';
import { capabilitiesOf, takeInventory } from '../engines/inventory.ts';
import type { EngineSettings } from '../engines/settings.ts';
import { systemClock } from '../lib/clock.ts';
import { SettingError } from '../lib/operator-error.ts';
import type { AiCapabilities } from '../streaming/ai-tasks/capabilities.ts';
import { parseAllowedHosts } from '../streaming/ai-tasks/fetching/allowed-hosts.ts';
import { confined } from '../streaming/ai-tasks/work/confinement.ts';
import { workLimits } from '../streaming/ai-tasks/work/limits.ts';
import { findSandbox, type Sandbox } from '../streaming/ai-tasks/work/sandbox.ts';
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

/** The sandbox that analyses run in, or why there is none. */
export async function aiSandbox(config: Config): Promise<{ found: Sandbox } | { missing: string }> {
  if (config.ai.sandbox === 'off') return { missing: 'TRADEWIND_AI_SANDBOX is off' };
  return findSandbox({ searchPath: config.searchPath, reads: filesOfAnalysis(engineSettings(config)) });
}

/** @throws SettingError where the sandbox is required and doesn't work */
export async function requireAiSandbox(config: Config): Promise<void> {
  if (config.ai.concurrency === 0 || config.ai.sandbox !== 'required') return;
  const sandbox = await aiSandbox(config);
  if ('missing' in sandbox)
    throw new SettingError(`TRADEWIND_AI_SANDBOX is required, but ${sandbox.missing}`);
}

/** Takes AI tasks in this process. */
export async function startAiWork(deps: {
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
  const sandbox = await aiSandbox(config);
  const able = deps.capabilities.transcription !== undefined || deps.capabilities.categories.length > 0;
  if (able && 'missing' in sandbox)
    deps.log.warn({ why: sandbox.missing }, 'Analyses of AI tasks run without a sandbox, with limits only');
  return startAiWorker({
    ...others,
    clock: systemClock,
    program: {
      ...program,
      commandIn(folder) {
        const command = confined(program.commandIn(folder), searchPath, limits.child);
        return 'found' in sandbox ? sandbox.found.around(command, folder) : command;
      },
    },
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
