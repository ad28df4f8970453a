import { LIVES as FORMER, type Life, type Phase } from '../../../simulation/lives.ts';
import type { Kind } from '../../../src/backends/contract/backend.ts';

export * from '../../../simulation/lives.ts';

/** Each stage of the test release begins with this. */
export const MARK = 'otherwise: ';

/**
 * The stages of a test release: renamed, reversed, the last one dropped, one added, and each with another
 * duration.
 */
export const LIVES = Object.fromEntries(
  Object.entries(FORMER).map(([kind, former]) => [kind, otherwise(former as Life<Kind>)]),
);

function otherwise(former: Life<Kind>): Life<Kind> {
  return {
    ...former,
    making: (spec) => reordered(former.making(spec)),
    changing: (before, spec) => reordered(former.changing(before, spec)),
    removing: renamed(former.removing),
  };
}

function reordered(phases: readonly Phase[]): Phase[] {
  const [, ...others] = phases.toReversed();
  return [{ state: `${MARK}checking`, ms: 300 }, ...others.map(renamed)];
}

function renamed({ state, ms }: Phase): Phase {
  return { state: `${MARK}${state}`, ms: 1.5 * ms };
}
