import { once } from 'node:events';
import net from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { OperatorError } from '../lib/errors.ts';
import type { Undo } from './preparation.ts';

/** `setting` is the name of the port's setting. */
export type ListenAddress = Pick<Config, 'host' | 'port'> & { setting?: string };

const WHYS: Record<string, string> = {
  EADDRINUSE: 'another program listens there; stop it or set TRADEWIND_PORT to another port',
  EACCES: 'this user may not use that port; set TRADEWIND_PORT to a port above 1023',
  EADDRNOTAVAIL: 'this machine has no such address; set TRADEWIND_HOST to one of its own',
  ENOTFOUND: 'the host name is unknown; set TRADEWIND_HOST to an address of this machine',
};

/** Where a process that is only a worker tells of itself, if it does. */
export function workerAddress({ host, workerPort }: Config): ListenAddress | undefined {
  return workerPort === undefined ? undefined : { host, port: workerPort, setting: 'TRADEWIND_WORKER_PORT' };
}

/**
 * Checks the port early, since a start would otherwise notice only at its end, after making the database.
 * @throws OperatorError
 */
export async function requireFreePort(address: ListenAddress): Promise<void> {
  const probe = net.createServer();
  try {
    probe.listen(address.port, address.host);
    await once(probe, 'listening');
  } catch (error) {
    throw cannotListen(address, error);
  }
  probe.close();
  await once(probe, 'close');
}

function cannotListen({ host, port, setting = 'TRADEWIND_PORT' }: ListenAddress, cause: unknown): OperatorError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = (WHYS[code ?? ''] ?? message).replace('TRADEWIND_PORT', setting);
  const what = setting === 'TRADEWIND_PORT' ? 'The API' : 'The worker';
  return new OperatorError(`${what} can't listen on ${host}, port ${port}: ${why}`, { cause });
}

type App = Pick<FastifyInstance, 'close' | 'listen' | 'server'>;

/** Returns where it listens: if the setting is 0, the system has chosen the port. @throws OperatorError */
export async function listen(
  app: App,
  at: ListenAddress,
  { log, undo }: { log: Logger; undo: Undo },
): Promise<{ host: string; port: number }> {
  undo.push((graceMs) => closeWithin(app, graceMs, log));
  const listening = app.listen({ host: at.host, port: at.port, listenTextResolver: () => 'Listening' });
  await listening.catch((error: unknown) => {
    throw cannotListen(at, error);
  });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : at.port;
  return { host: at.host, port };
}

async function closeWithin(app: App, graceMs: number, log: Logger): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), graceMs);
  });
  if ((await Promise.race([app.close(), late])) === 'late') {
    log.warn('Some requests were still unanswered and are cut off');
    app.server.closeAllConnections();
  }
  clearTimeout(timer);
}
