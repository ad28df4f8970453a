import { startSuspensions } from '../cloud/compute/instances/suspension/work.ts';
import { startBudgets } from '../cloud/money/budgets/work.ts';
import { startClosingDays } from '../cloud/money/costs/closing.ts';
import { startMeteringTraffic } from '../cloud/money/costs/traffic.ts';
import { startInvoicing } from '../cloud/money/invoices/work.ts';
import { startSnapshotSchedules } from '../cloud/storage/volumes/schedules/work.ts';
import type { Config } from '../config.ts';
import type { Platform } from '../platform.ts';
import type { Undo } from './preparation.ts';

/** Begins what a worker does when its time has come, and not because somebody asked. `mayWork` says whether the clock can be trusted. */
export function startLoops(
  on: Platform,
  { config, undo, mayWork }: { config: Config; undo: Undo; mayWork: () => boolean },
): void {
  for (const one of [
    startSnapshotSchedules(on, mayWork),
    startInvoicing(on, { graceMs: config.invoiceGraceMs, mayWork }),
    startMeteringTraffic(on, { regions: config.workerRegions, mayWork }),
    startClosingDays(on, mayWork),
    startBudgets(on, mayWork),
    startSuspensions(on, mayWork),
  ]) {
    undo.push(() => one.stop());
  }
}
