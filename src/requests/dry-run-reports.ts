import type { DryRun } from '../lib/request-context.ts';
import type { Principal } from './principal.ts';

/** A thing that a task waits for. */
export interface DryRunStep {
  action: 'change' | 'create' | 'remove';
  kind: string;
  id: string;
  /** Which of its fields change, by their names in the API. */
  fields?: string[];
}

export interface DryRunReport {
  tasks: { type: string; steps: DryRunStep[] }[];
  /** Null if a price is missing or hidden. */
  price_per_month_difference: number | null;
  currency_code: string | null;
  /** Those that would change. */
  quotas: { region_id: number; attribute: string; used_before: number; used: number }[];
}

/** Tells what the open transaction of a dry run has changed. */
export interface DryRunReports {
  of(principal: Principal, run: DryRun, taskIds: readonly string[]): Promise<DryRunReport>;
}
