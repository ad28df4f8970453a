import type { QuarterlyTable } from '../../../db/quarters.ts';
import { firstTaskId } from '../../../lib/ids.ts';
import { ACTIVE } from './states.ts';

const OPEN = `state in (${ACTIVE.map((state) => `'${state}'`).join(', ')})`;

/** By id, which begins with the time. Older tasks have random ids and are in the default partition. */
export const TASKS: QuarterlyTable = {
  name: 'tasks',
  column: 'id',
  from: (moment) => `'${firstTaskId(moment)}'`,
  time: 'created_on',
  open: OPEN,
  // A removal may outlive its task, and ends it then.
  isOver: `not (${OPEN}) and not exists (select from task_wants where task_id = old.id)`,
  goesOn: (quarter) =>
    `exists (select from ${quarter} as task where ${OPEN})
      or exists (select from task_wants join ${quarter} as task on task.id = task_id)`,
};
