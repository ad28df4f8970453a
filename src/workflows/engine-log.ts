import type { DLogger } from '@dbos-inc/dbos-sdk';
import type { Logger } from 'pino';

/** The engine's log in ours. What it calls information is of use only to whoever debugs the engine. */
export function engineLogger(log: Logger): DLogger {
  const engine = log.child({ component: 'dbos' });
  return {
    debug: (entry) => engine.trace(String(entry)),
    info: (entry) => engine.debug(String(entry)),
    // What a stopping worker leaves for later is no fault, and the worker says so itself.
    warn: (entry) =>
      engine[String(entry).startsWith('Shutting down while') ? 'debug' : 'warn'](String(entry)),
    error: (entry, metadata) => engine.error({ stack: metadata?.stack }, String(entry)),
  };
}
