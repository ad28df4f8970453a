import { once } from 'node:events';
import net from 'node:net';
import type { Config } from '../config.ts';
import { OperatorError } from '../lib/operator-error.ts';

/** `setting` is the name of the port's setting. */
export type ListenAddress = Pick<Config, 'host' | 'port'> & { setting?: string };

const WHYS: Record<string, string> = {
  EADDRINUSE: 'another program listens there; stop it or set TRADEWIND_PORT to another port',
  EACCES: 'this user may not use that port; set TRADEWIND_PORT to a port above 1023',
  EADDRNOTAVAIL: 'this machine has no such address; set TRADEWIND_HOST to one of its own',
  ENOTFOUND: 'the host name is unknown; set TRADEWIND_HOST to an address of this machine',
};

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

export function cannotListen(
  { host, port, setting = 'TRADEWIND_PORT' }: ListenAddress,
  cause: unknown,
): OperatorError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = (WHYS[code ?? ''] ?? message).replace('TRADEWIND_PORT', setting);
  const what = setting === 'TRADEWIND_PORT' ? 'The API' : 'The worker';
  return new OperatorError(`${what} can't listen on ${host}, port ${port}: ${why}`, { cause });
}
