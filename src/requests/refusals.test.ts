import { expect, it } from 'vitest';
import type { NewUserAction } from './action-log.ts';
import { createRefusals, type RefusedRequest } from './refusals.ts';

const clock = { now: () => new Date('2026-11-23T12:00:00Z') };

it('are told apart for one account, however many another one has', () => {
  const written: NewUserAction[] = [];
  const refusals = createRefusals({ actionLog: { noteLater: (action) => written.push(action) }, clock });
  const refused = (clientId: number, operation: string): RefusedRequest => ({
    id: 'e5f7',
    operation,
    method: 'GET',
    path: '/',
    ip: '192.0.2.7',
    userAgent: 'test',
    status: 403,
    whose: { clientId, userId: 10 + clientId, tokenId: 1 },
    reason: 'no right',
  });
  for (let number = 0; number < 5_000; number++) refusals.note(refused(1, `operation ${number}`));
  for (let round = 0; round < 3; round++) refusals.note(refused(2, 'listAuditRecords'));
  refusals.flush();

  const of = (clientId: number) => written.filter(({ client_id }) => client_id === clientId);
  expect(of(2)).toMatchObject([{ user_id: 12, operation: 'listAuditRecords', attempts: 3 }]);
  expect(of(1)).toHaveLength(101);
  expect(of(1).reduce((sum, { attempts }) => sum + (attempts ?? 0), 0)).toBe(5_000);
  expect(of(1).at(-1)).toMatchObject({ user_id: 0, operation: '', attempts: 4_900 });
  refusals.flush();
  expect(written).toHaveLength(102);
});
