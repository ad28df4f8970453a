import { expect, it } from 'vitest';
import { startService } from '../../../test/support/service.ts';
import { openDatabase } from '../../db/database.ts';
import { systemClock } from '../../lib/clock.ts';
import { createUserActions } from './service.ts';

it('clears away however many actions are older than a year, and no other', async () => {
  const service = await startService();
  await service.pool.query(`
    insert into user_actions
      (client_id, user_id, request_id, operation, method, path, source_user_ip, outcome, status, "timestamp")
    select 7, 7, n::text, '', 'POST', '/', '', 'accepted', 200, now() - case when n > 2500 then 1 else 366 end * interval '1 day'
    from generate_series(1, 2501) as n`);
  const database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 1);
  await createUserActions({ database, clock: systemClock }).forgetOld();
  await database.close();
  const { rows } = await service.pool.query('select request_id from user_actions where client_id = 7');
  expect(rows).toEqual([{ request_id: '2501' }]);
  await service.stop();
});
