import type { Logger } from 'pino';
import * as engines from '../../engines/index.ts';
import type { Config } from '../config.ts';
import { SettingError } from '../lib/errors.ts';
import { NO_HOSTS, parseAllowedHosts } from '../lib/outside-request.ts';
import { packageRoot } from '../lib/own-program.ts';
import { existingFolder } from '../lib/secret-file.ts';
import { type AiQueue, type AiQueueOptions, openAiQueue } from '../streaming/ai-tasks/work/queue.ts';

/** Returns where the engines are, according to the settings. */
export function engineSettings({ ai, searchPath }: Config): engines.EngineSettings {
  return { ...ai.engines, searchPath, modelDir: ai.modelDir ?? null };
}

/** What AI work needs before it begins: the engines' capabilities, and the isolation of analyses. */
interface AiPreparation {
  capabilities: engines.AiCapabilities;
  start: engines.Containment['start'];
}

/**
 * Returns undefined if the settings exclude AI tasks from this process, or analyses can't be isolated as the
 * settings and root require.
 */
export async function prepareAiWork(config: Config, log: Logger): Promise<AiPreparation | undefined> {
  if (config.ai.concurrency === 0) return undefined;
  const [inventory, containment] = await Promise.all([
    engines.takeInventory(engineSettings(config)),
    aiContainment(config),
  ]);
  const capabilities = engines.capabilitiesOf(inventory);
  const able = engines.workKinds(capabilities).length > 0;
  if (containment.missing !== undefined) {
    if (able) log.error({ why: containment.missing }, 'This process takes no AI tasks');
    return undefined;
  }
  const { start, lacks } = containment.found;
  if (lacks !== undefined && config.ai.sandbox === 'auto' && able)
    log.warn({ why: lacks }, 'Analyses of AI tasks run without a sandbox, with resource limits only');
  return { capabilities, start };
}

/** Returns how analyses are isolated, or why none can run. */
export async function aiContainment(config: Config): Promise<engines.ContainmentFinding> {
  const { ai, searchPath, dataDir, temporaryDir } = config;
  try {
    const { programs, ...others } = engines.needsOfAnalysis(engineSettings(config));
    const needs = { programs: [...programs, ...engines.confiners(searchPath)], ...others };
    const limits = engines.resourceLimits(ai.effort).child;
    const folder = existingFolder(temporaryDir);
    const shared = { searchPath, folder };
    const hides = [packageRoot, dataDir, temporaryDir];
    const sandbox: engines.SandboxFinding =
      ai.sandbox === 'off'
        ? { missing: 'TRADEWIND_AI_SANDBOX is off' }
        : await engines.findSandbox({ ...shared, ...needs, hides, scratchBytes: limits.writtenBytes });
    return await engines.findContainment({
      ...shared,
      sandbox,
      optional: ai.sandbox !== 'required',
      needs,
      limits,
    });
  } catch (error) {
    return { missing: (error as Error).message };
  }
}

/** @throws SettingError if a sandbox is required and there is none */
export async function requireAiSandbox(config: Config): Promise<void> {
  if (config.ai.concurrency === 0 || config.ai.sandbox !== 'required') return;
  const { missing } = await aiContainment(config);
  if (missing !== undefined)
    throw new SettingError(`TRADEWIND_AI_SANDBOX is required, but there is no sandbox: ${missing}`);
}

export const mediaOf = ({ ai }: Config) => ({
  limits: ai.media,
  allowedHosts: parseAllowedHosts(ai.allowedHosts) ?? NO_HOSTS,
});

/** Opens the queue of AI tasks for this process's worker. */
export function aiQueueOf(
  config: Config,
  { capabilities, start }: AiPreparation,
  foundation: Pick<AiQueueOptions, 'workerId' | 'database' | 'clock' | 'log' | 'registry'>,
): Promise<AiQueue> {
  const { ai, temporaryDir } = config;
  return openAiQueue({
    ...foundation,
    capabilities,
    program: engines.analysisProgram(engineSettings(config), start),
    fetching: mediaOf(config),
    limits: engines.resourceLimits(ai.effort),
    folder: temporaryDir,
    concurrency: ai.concurrency,
    perClient: ai.perClient,
  });
}
