import type { ClusterSpec } from '../../contract/specs.ts';
import type { Platform } from '../platform.ts';
import { autoscaler } from './autoscaler.ts';
import { cni } from './cilium.ts';
import { ddos } from './ddos.ts';
import { logging } from './logging.ts';
import { combined, type Rendering } from './objects.ts';
import { slurm } from './slurm.ts';
import { storage } from './storage.ts';

/**
 * Returns everything that a cluster's spec means inside the cluster. The same spec always gives the same objects, with
 * their members in the same order. Authentication is no object: see `authentication.ts`.
 */
export function clusterRendering(spec: ClusterSpec, platform: Platform): Rendering {
  return combined([
    storage(platform),
    cni(spec, platform),
    autoscaler(spec, platform),
    logging(spec, platform),
    slurm(spec, platform),
    ddos(spec),
  ]);
}
