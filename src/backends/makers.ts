import { clusterApi } from './cluster-api/maker.ts';
import { hosted } from './hosted/maker.ts';
import type { Makers } from './maker.ts';
import { simulated } from './simulated/maker.ts';

/** The makers of all kinds of backends. */
export const MAKERS: Makers = { simulated, hosted, 'cluster-api': clusterApi };
