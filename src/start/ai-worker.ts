import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { ChangeFeed } from '../db/changes.ts';
import type { Database } from '../db/database.ts';
import { analysisProgram, needsOfAnalysis } from '../engines/analysis-program.ts';
import { capabilitiesOf, takeInventory } from '../engines/inventory.ts';
import type { EngineSettings } from '../engines/settings.ts';
import { systemClock } from '../lib/clock.ts';
import { existingFolder } from '../lib/existing-folder.ts';
import { SettingError } from '../lib/operator-error.ts';
import { packageRoot } from '../lib/package-root.ts';
import { type AiCapabilities, workKinds } from '../streaming/ai-tasks/capabilities.ts';
import { parseAllowedHosts } from '../streaming/ai-tasks/fetching/allowed-hosts.ts';
import { confined, confiners } from '../streaming/ai-tasks/work/confinement.ts';
import { workLimits } from '../streaming/ai-tasks/work/limits.ts';
import { findSandbox, type SandboxFinding } from '../streaming/ai-tasks/work/sandbox.ts';
import { type AiWorker, startAiWorker } from '../streaming/ai-tasks/work/worker.ts';

/** Where the engines are, by the settings. */
export function engineSettings({ ai, searchPath }: Config): EngineSettings {
  return { ...ai.engines, searchPath, modelDir: ai.modelDir ?? null };
}

/** What AI work needs to know before it begins: what the engines can do, and what shuts them in. */
interface AiPreparation {
  capabilities: AiCapabilities;
  sandbox: SandboxFinding;
}

/** Undefined where the settings keep this process from AI tasks. */
export async function prepareAiWork(config: Config): Promise<AiPreparation | undefined> {
  if (config.ai.concurrency === 0) return undefined;
  const [inventory, sandbox] = await Promise.all([takeInventory(engineSettings(config)), aiSandbox(config)]);
  return { capabilities: capabilitiesOf(inventory), sandbox };
}

/** The sandbox that analyses run in, or why there is none. */
export async function aiSandbox(config: Config): Promise<SandboxFinding> {
  const { ai, searchPath, dataDir, temporaryDir } = config;
  if (ai.sandbox === 'off') return { missing: 'TRADEWIND_AI_SANDBOX is off' };
  try {
    const { programs, reads } = needsOfAnalysis(engineSettings(config));
    return await findSandbox({
      searchPath,
      programs: [...programs, ...confiners(searchPath)],
      reads,
      hides: [packageRoot, dataDir, temporaryDir],
      folder: existingFolder(temporaryDir),
    });
  } catch (error) {
    return { missing: (error as Error).message };
  }
}

/** @throws SettingError where a sandbox is required and there is none */
export async function requireAiSandbox(config: Config): Promise<void> {
  if (config.ai.concurrency === 0 || config.ai.sandbox !== 'required') return;
  const { missing } = await aiSandbox(config);
  if (missing !== undefined)
    throw new SettingError(`TRADEWIND_AI_SANDBOX is required, but there is no sandbox: ${missing}`);
}

/** Takes AI tasks in this process; not where a sandbox is required and, by now, there is none. */
export async function startAiWork(deps: {
  config: Config;
  prepared: AiPreparation;
  database: Database;
  changes: ChangeFeed;
  log: Logger;
  takeOverAllAtStart: boolean;
}): Promise<AiWorker | undefined> {
  const { config, prepared, ...others } = deps;
  const { ai, searchPath, temporaryDir } = config;
  const { capabilities, sandbox } = prepared;
  if (sandbox.missing !== undefined && ai.sandbox === 'required') {
    deps.log.error({ why: sandbox.missing }, 'No AI tasks are taken: TRADEWIND_AI_SANDBOX is required');
    return undefined;
  }
  if (sandbox.missing !== undefined && ai.sandbox === 'auto' && workKinds(capabilities).length > 0)
    deps.log.warn({ why: sandbox.missing }, 'Analyses of AI tasks run without a sandbox, under limits alone');
  const program = analysisProgram(engineSettings(config));
  const limits = workLimits(ai.effort);
  return startAiWorker({
    ...others,
    capabilities,
    clock: systemClock,
    program: {
      ...program,
      commandIn(folder) {
        const command = confined(program.commandIn(folder), searchPath, limits.child);
        return sandbox.found?.around(command, folder) ?? command;
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
