import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { BackendRouter, NamedBackend } from '../backends/backends.ts';
import type { Database } from '../db/database.ts';
import { ONLY_ONE, unlessAnother } from '../db/one-process.ts';
import { loop } from '../lib/loop.ts';
import { bringBack, compare, type Orphan, removeOrphans } from './orphans.ts';
import { keyOf } from './wants.ts';

/** At most so many things are named in one line of the log. */
const NAMED = 5;

/** Whether a backend, or what it has in a region, is to be left alone for now. */
type LeftAlone = (backend: string, regionId?: number) => boolean;

/**
 * Compares what backends have with what is wanted, at once and then every `everyMs`, in one process at a time. Drifted
 * things are brought back. Things that nobody wants are removed, or reported where an operator decides.
 */
export function startComparing(deps: {
  database: Database;
  backends: Pick<BackendRouter, 'all'>;
  everyMs: number;
  log: Logger;
  registry: Registry;
  leftAlone: () => Promise<LeftAlone>;
}): { stop(): Promise<void> } {
  const { database, backends, everyMs, log, registry, leftAlone } = deps;
  const registers = [registry];
  const orphaned = new Gauge({
    name: 'tradewind_orphans',
    help: 'Resources of a backend that nobody wants and an operator has to remove, as counted by the process that compared last',
    labelNames: ['backend', 'kind'],
    registers,
  });
  const drift = new Counter({
    name: 'tradewind_drift_total',
    help: 'Resources that were there as wanted, went missing later, and are restored',
    labelNames: ['backend', 'kind'],
    registers,
  });
  const stopping = new AbortController();

  async function compareAll(): Promise<void> {
    orphaned.reset();
    const isLeftAlone = await leftAlone();
    for (const named of backends.all()) {
      if (isLeftAlone(named.name)) continue;
      try {
        await compareOne(named, isLeftAlone);
      } catch (error) {
        if (stopping.signal.aborted) return;
        log.warn({ err: error, backend: named.name }, 'a backend could not be compared with what is wanted');
      }
    }
  }

  async function compareOne(named: NamedBackend, isLeftAlone: LeftAlone): Promise<void> {
    const { name: backend } = named;
    const all = await compare({ sql: database.sql, log, signal: stopping.signal }, named);
    const isMinded = ({ regionId }: { regionId?: number }) => !isLeftAlone(backend, regionId);
    const found = {
      drifted: all.drifted.filter(isMinded),
      changed: all.changed.filter(isMinded),
      orphans: all.orphans.filter(isMinded),
    };
    if (found.drifted.length > 0) {
      const back = new Set(await bringBack(database, found.drifted));
      const drifted = found.drifted.filter((one) => back.has(keyOf(one)));
      for (const { kind } of drifted) drift.inc({ backend, kind });
      if (drifted.length > 0)
        log.warn({ backend, ...told(drifted) }, 'resources have gone missing and are being restored');
    }
    // Nobody reported that these have changed by themselves.
    if (found.changed.length > 0) await bringBack(database, found.changed);
    if (found.orphans.length === 0) return;
    const removed = named.removesOrphans
      ? await database.transaction((tx) => removeOrphans(tx, named, found.orphans))
      : [];
    if (removed.length > 0) log.warn({ backend, ...told(removed) }, 'resources that nobody wants are being removed');
    const gone = new Set(removed.map(keyOf));
    const left = found.orphans.filter((one) => !gone.has(keyOf(one)));
    for (const { kind } of left) orphaned.inc({ backend, kind });
    if (left.length > 0)
      log.warn({ backend, ...told(left) }, 'nobody wants these resources: see "tradewind orphans list"');
  }

  const comparing = loop('comparing the infrastructure with what is wanted', everyMs, log, async () => {
    const done = await unlessAnother(database.sql, ONLY_ONE.compares, () => compareAll().then(() => true));
    if (!done) orphaned.reset();
  });
  return {
    async stop() {
      stopping.abort(new Error('The process stops'));
      await comparing.stop();
    },
  };
}

const told = (things: readonly Orphan[]) => ({
  count: things.length,
  some: things.slice(0, NAMED).map(keyOf),
});
