import type { QuarterlyTable } from '../../../db/quarters.ts';

export const USER_ACTIONS: QuarterlyTable = {
  name: 'user_actions',
  column: '"timestamp"',
  from: (moment) => `'${moment.toISOString()}'`,
  time: '"timestamp"',
  isOver: 'true',
  goesOn: () => 'false',
};
