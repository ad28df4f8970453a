import type { Foundation } from '../../../foundation.ts';
import type { Rates } from '../../ground/prices/service.ts';
import { createCostReports } from './service.ts';
import { createStatements } from './statements/service.ts';
import { createReportTurns } from './turns.ts';

export function wireCosts(deps: Foundation & { rates: Rates }) {
  const costs = { ...deps, inTurn: createReportTurns() };
  return { costReports: createCostReports(costs), statements: createStatements(costs) };
}
