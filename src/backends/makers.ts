import { clusterApi, hosted } from '../../kubernetes/index.ts';
import type { Makers } from './maker.ts';
import { simulated } from './simulated/maker.ts';

/** The makers of all kinds of backends. */
export const MAKERS: Makers = { simulated, hosted, 'cluster-api': clusterApi };
