import { addressActions } from './address-actions.ts';
import { clusterActions } from './cluster-actions.ts';
import { computeActions } from './compute-actions.ts';
import { loadBalancerActions } from './load-balancer-actions.ts';
import { networkActions } from './network-actions.ts';
import { otherActions } from './other-actions.ts';
import { routerActions } from './router-actions.ts';
import type { Worker } from './world.ts';

/** What a worker may do next, with its relative frequency. */
export type Actions = Record<string, readonly [weight: number, act: (worker: Worker) => Promise<void>]>;

export const ACTIONS: Actions = {
  ...networkActions,
  ...routerActions,
  ...computeActions,
  ...addressActions,
  ...loadBalancerActions,
  ...clusterActions,
  ...otherActions,
};

const LOTS = Object.values(ACTIONS).flatMap(([weight, act]) => Array<typeof act>(weight).fill(act));

/** Usually does one thing; sometimes does the same several times at the same moment. Often it is one of `wanting`. */
export async function actOnce(worker: Worker, wanting: readonly string[]): Promise<void> {
  const { random } = worker;
  const preferred = random.chance(0.4) ? ACTIONS[random.pick(wanting) ?? ''] : undefined;
  const act = preferred?.[1] ?? random.pick(LOTS);
  const times = random.chance(0.2) ? random.whole(2, 4) : 1;
  await Promise.all(Array.from({ length: times }, async () => act?.(worker)));
}
