import type { Makers } from './maker.ts';
import { simulated } from './simulated/maker.ts';

/** Every kind of backend that there is. */
export const MAKERS: Makers = { simulated };
