import type { Host } from '../backends/maker.ts';
import type { Config } from '../config.ts';

/** Returns what backends may know of the settings. */
export function hostOf(config: Config): Omit<Host, 'secrets' | 'sql'> {
  const { simulationSpeed, dataDir, kubernetesDir, searchPath } = config;
  return { simulationSpeed, dataDir, kubernetesDir, searchPath };
}
