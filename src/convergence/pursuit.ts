import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import * as contractBackend from '../backends/contract/backend.ts';
import type { Specs } from '../backends/contract/specs.ts';
import type { Database } from '../db/database.ts';
import { untilAborted } from '../lib/loop.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { type Claim, keep, Overtaken, obstacleOf, type Release, release } from './claims.ts';
import { settle } from './endings.ts';
import { EndFailed, failEnd, refuse } from './failures.ts';
import type { Lines } from './lines.ts';
import type { Outcome } from './measures.ts';
import { isTransient, troubleWith } from './transient.ts';
import type { Endings } from './waiting-tasks.ts';
import { secretOf } from './wants.ts';

/** A want that is to be asked again sooner than this stays claimed, instead of being released and claimed again. */
const SHORT_MS = 1_000;
const READABLE_MS = 100;
/** Used when the backend got stuck before the call's turn came. None of its wants are claimed while it is stuck. */
const IN_LINE_MS = 2_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 30_000;
/**
 * A want that is woken is looked at once; these are for lost notifications. The first look may have come just
 * before the obstacle disappeared, and too late to be woken by that.
 */
const OBSTACLE_MS = { first: 1_000, later: 30_000 };
/** After this many tries, an internal error counts as final. */
const MOST_FAULTS = 5;
const INTERNAL_ERROR = "internal error; the server's log has the details under this ID";

export interface Pursuit extends Endings {
  workerId: string;
  /** The database for claims, which are made again if they get lost. */
  claims: Database;
  secrets: Secrets;
  backendOf(regionId: number, kind: contractBackend.Kind): contractBackend.Backend;
  longestCallMs: number;
  lines: Lines;
}

type Result = { settled: object | null } | { refused: string } | Release;

/**
 * Pursues a want until it is settled or refused, or has to wait for long. Then the claim is released, unless
 * the database is gone for good. If aborted, the claim is released as well.
 */
export async function pursue(pursuit: Pursuit, claim: Claim, signal: AbortSignal): Promise<void> {
  const result = await resultOf(pursuit, claim, signal);
  await persist(pursuit.log, signal, async () => {
    if (result === undefined) return putDown(pursuit, claim, { ...stay(claim), againInMs: 0 });
    try {
      if ('settled' in result) return await settleOrFail(pursuit, claim, result);
      if ('refused' in result) return await refuseOrWait(pursuit, claim, result.refused);
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      return putDown(pursuit, claim, { ...stay(claim), againInMs: 0 });
    }
    return putDown(pursuit, claim, result);
  });
}

const stay = ({ failures, handle }: Claim) => ({ doing: null, failures, handle });

async function resultOf(pursuit: Pursuit, claim: Claim, signal: AbortSignal): Promise<Result | undefined> {
  const { claims, log } = pursuit;
  try {
    const obstacle = await obstacleOf(claims.sql, claim);
    if (obstacle !== undefined) {
      const againInMs = claim.doing === null ? OBSTACLE_MS.first : OBSTACLE_MS.later;
      return { ...stay(claim), doing: obstacle, againInMs };
    }
    return await lineOf(pursuit, claim).hold(() => convergeOften(pursuit, claim, signal));
  } catch (error) {
    if (signal.aborted) return undefined;
    if (error instanceof Overtaken) return { ...stay(claim), againInMs: 0 };
    return afterFault(claim, error, log);
  }
}

async function convergeOften(pursuit: Pursuit, claim: Claim, signal: AbortSignal): Promise<Result> {
  const { claims, workerId } = pursuit;
  let said: string | undefined;
  let saidAt = performance.now();
  for (;;) {
    const answer = await convergeInTurn(pursuit, claim, signal);
    claim.handle = answer.handle ?? claim.handle;
    if (answer.state === 'settled') return { settled: answer.observed };
    const { doing, askAgainMs } = answer;
    if (askAgainMs > SHORT_MS) return { doing, againInMs: askAgainMs, failures: 0, handle: claim.handle };
    // Saving the state also checks that the want is unchanged. A state that lasts only a moment is not
    // saved, since nobody could read it.
    const now = performance.now();
    if ((doing !== said && askAgainMs >= READABLE_MS) || now - saidAt > SHORT_MS) {
      if (!(await keep(claims.sql, workerId, claim, doing))) return { ...stay(claim), againInMs: 0 };
      [said, saidAt] = [doing, now];
    }
    await delay(askAgainMs, undefined, { signal });
  }
}

async function convergeInTurn(
  pursuit: Pursuit,
  claim: Claim,
  signal: AbortSignal,
): Promise<contractBackend.Convergence<object | null>> {
  let begun = false;
  const turn = lineOf(pursuit, claim).call(async () => {
    begun = true;
    return convergeOnce(pursuit, backendOf(pursuit, claim), claim, signal);
  });
  return turn.catch((error: unknown) => {
    if (begun) throw error;
    throw new contractBackend.Unavailable('the infrastructure does not answer', { retryAfterMs: IN_LINE_MS });
  });
}

const backendOf = (pursuit: Pursuit, { region_id, kind }: Claim) => pursuit.backendOf(region_id, kind);
const lineOf = (pursuit: Pursuit, claim: Claim) => pursuit.lines.of(backendOf(pursuit, claim), claim);

/** Asks the backend, and measures how long that takes. */
async function convergeOnce(
  pursuit: Pursuit,
  backend: contractBackend.Backend,
  claim: Claim,
  aborted: AbortSignal,
): Promise<contractBackend.Convergence<object | null>> {
  const { measures, traces } = pursuit;
  const task = traces && (await traces.taskOf(claim));
  const begunAt = Date.now();
  const begun = performance.now();
  const measure = (outcome: Outcome) => {
    const seconds = (performance.now() - begun) / 1_000;
    measures?.called({ region: claim.region_id, kind: claim.kind, outcome, seconds });
    traces?.called({ claim, task, outcome, begunAt });
  };
  try {
    const answer = await askBackend(pursuit, backend, claim, aborted);
    measure(answer.state === 'settled' ? 'settled' : 'going on');
    return answer;
  } catch (error) {
    if (!aborted.aborted) measure(outcomeOfFault(error));
    throw error;
  }
}

function outcomeOfFault(error: unknown): Outcome {
  if (error instanceof contractBackend.Refused) return 'refused';
  return error instanceof contractBackend.Unavailable || isTransient(error) ? 'unavailable' : 'error';
}

async function askBackend(
  { claims, secrets, log, longestCallMs, workerId }: Pursuit,
  backend: contractBackend.Backend,
  claim: Claim,
  aborted: AbortSignal,
): Promise<contractBackend.Convergence<object | null>> {
  aborted.throwIfAborted();
  const late = new AbortController();
  const signal = AbortSignal.any([aborted, late.signal]);
  const { kind, id, generation, settled_generation } = claim;
  const ref: contractBackend.Ref = {
    kind,
    id,
    regionId: claim.region_id,
    projectId: claim.project_id,
    handle: claim.handle,
  };
  const call: contractBackend.Call = {
    signal,
    generation,
    wasThere: settled_generation !== null,
    log,
    async remember(handle) {
      signal.throwIfAborted();
      const former = claim.handle;
      claim.handle = handle;
      if (await keep(claims.sql, workerId, claim, claim.doing)) return;
      claim.handle = former;
      throw new Overtaken();
    },
    secret: (name) => secretOf({ sql: claims.sql, secrets }, { kind, id }, name),
  };
  const timer = setTimeout(
    () =>
      late.abort(new contractBackend.Unavailable(`the infrastructure did not answer for ${longestCallMs / 1_000} s`)),
    longestCallMs,
  );
  try {
    return await untilAborted(signal, backend.converge(ref, claim.spec as Specs[contractBackend.Kind] | null, call));
  } finally {
    clearTimeout(timer);
  }
}

function afterFault(claim: Claim, error: unknown, log: Logger): Result {
  const { handle } = claim;
  const failures = claim.failures + 1;
  const about = { kind: claim.kind, id: claim.id, region: claim.region_id, failures };
  if (error instanceof contractBackend.Refused) return { refused: error.message };
  if (error instanceof contractBackend.Unavailable || isTransient(error)) {
    const why = error instanceof contractBackend.Unavailable ? { why: error.message } : { err: error };
    log.warn({ ...about, ...why }, `${troubleWith('the infrastructure', error)}, trying again`);
    const againInMs =
      (error instanceof contractBackend.Unavailable ? error.retryAfterMs : undefined) ?? pauseAfter(failures);
    return { doing: messageOf(error), againInMs, failures, handle };
  }
  log.error({ ...about, err: error }, 'a backend failed with an unexpected error');
  if (failures >= MOST_FAULTS) {
    return { refused: INTERNAL_ERROR };
  }
  return { doing: 'an internal error; trying again', againInMs: pauseAfter(failures), failures, handle };
}

const messageOf = (error: unknown): string =>
  error instanceof contractBackend.Unavailable ? error.message : troubleWith('a service it depends on', error);

const pauseAfter = (failures: number): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 20), LONGEST_PAUSE_MS) * (0.75 + Math.random() / 2);

async function settleOrFail(pursuit: Pursuit, claim: Claim, { settled: observed }: { settled: object | null }) {
  try {
    await settle(pursuit, pursuit.workerId, { claim, observed });
  } catch (error) {
    if (isTransient(error)) throw error;
    if (error instanceof Overtaken) throw error;
    if (error instanceof EndFailed) {
      await failEnd(pursuit, error);
      return putDown(pursuit, claim, { ...waitLonger(claim), doing: null });
    }
    pursuit.log.error({ err: error, kind: claim.kind, id: claim.id }, 'it could not be recorded as settled');
    await refuseOrWait(pursuit, claim, INTERNAL_ERROR);
  }
}

async function refuseOrWait(pursuit: Pursuit, claim: Claim, reason: string): Promise<void> {
  // A want outlives its task.
  const failed = await refuse(pursuit, pursuit.workerId, claim, reason);
  if (!failed)
    pursuit.log.warn(
      { kind: claim.kind, id: claim.id, reason, failures: claim.failures + 1 },
      'the infrastructure refuses what is wanted',
    );
  await putDown(pursuit, claim, { ...waitLonger(claim), doing: reason });
}

function waitLonger({ failures, handle }: Claim) {
  return { againInMs: pauseAfter(failures + 5), failures: failures + 1, handle };
}

function putDown({ claims, workerId }: Pursuit, claim: Claim, how: Release): Promise<void> {
  return release(claims.sql, workerId, claim, how);
}

/** Retries, so that a database outage does not lose the result. */
async function persist(log: Logger, signal: AbortSignal, write: () => Promise<void>): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      return await write();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      log.warn({ err: error }, `${troubleWith('the database', error)}, trying again`);
    }
    await delay(Math.min(pauseAfter(failures), 2_000), undefined, { signal });
  }
}
