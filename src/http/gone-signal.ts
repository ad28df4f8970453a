import type { FastifyReply } from 'fastify';
import { ForbiddenError, UnauthenticatedError } from '../lib/errors.ts';

/** How long a check that the caller may still read holds. */
const CHECK_MS = 1_000;

const signals = new WeakMap<FastifyReply, AbortSignal>();

/**
 * Returns a signal that fires when the connection has ended or the caller has lost its rights. Handlers that wait for
 * long need it. Each reply has one signal, however often this is called.
 */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const signal = signals.get(reply) ?? watch(reply);
  signals.set(reply, signal);
  return signal;
}

function watch(reply: FastifyReply): AbortSignal {
  const { request, server, raw } = reply;
  const controller = new AbortController();
  request.waits = true;
  let asking = false;
  async function look(): Promise<void> {
    // A check that takes longer than the time between two is the only one.
    if (asking) return;
    asking = true;
    if (await hasLostRights(() => server.stillAdmitted(request))) controller.abort();
    asking = false;
  }
  const checking = setInterval(() => {
    // Inner requests have no connection that is closed.
    if (raw.writableEnded || controller.signal.aborted) clearInterval(checking);
    else void look();
  }, CHECK_MS);
  raw.once('close', () => {
    clearInterval(checking);
    controller.abort();
  });
  // It may have been closed before anything had to wait.
  if (raw.closed) {
    clearInterval(checking);
    controller.abort();
  }
  return controller.signal;
}

/** A database that doesn't answer says nothing about rights: the next check asks again. */
async function hasLostRights(check: () => Promise<void>): Promise<boolean> {
  try {
    await check();
    return false;
  } catch (error) {
    return error instanceof UnauthenticatedError || error instanceof ForbiddenError;
  }
}
