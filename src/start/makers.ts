import { clusterApi, hosted } from '../../kubernetes/index.ts';
import { simulated } from '../../simulation/index.ts';
import type { Host, Makers } from '../backends/maker.ts';
import type { Config } from '../config.ts';

/** The makers of all kinds of backends. */
export const MAKERS: Makers = { simulated, hosted, 'cluster-api': clusterApi };

/** Returns what backends may know of the settings. */
export function hostOf(config: Config): Omit<Host, 'secrets' | 'sql'> {
  const { simulationSpeed, dataDir, kubernetesDir, searchPath } = config;
  return { simulationSpeed, dataDir, kubernetesDir, searchPath };
}
