import { clusterApi, hosted } from '../../kubernetes/index.ts';
import type { Makers } from '../backends/maker.ts';
import { simulated } from '../backends/simulated/maker.ts';

/** The makers of all kinds of backends. */
export const MAKERS: Makers = { simulated, hosted, 'cluster-api': clusterApi };
