import { expect, it } from 'vitest';
import type { Api, Input } from './client.ts';
import type { OperationId } from './operations.ts';
import { rowsOf } from './rows.ts';

const ALL = Array.from({ length: 250 }, (_, id) => id);

/** A server with 250 rows in each list, and the requests that it got. */
function listing() {
  const asked: Input['parameters'][] = [];
  const api: Api = {
    async call(_id, { parameters = {} } = {}) {
      asked.push(parameters);
      const { limit, offset, page_token } = parameters;
      const from = Number(page_token ?? offset ?? 0);
      const rows = ALL.slice(from, from + Number(limit));
      const next = from + rows.length;
      return { results: rows, next_page_token: next < ALL.length ? String(next) : null };
    },
    file: () => expect.fail('not asked'),
    stream: () => expect.fail('Lists are no streams'),
  };
  const read = (id: OperationId, limit: number) =>
    rowsOf(api, id, { input: { parameters: { name: 'x' } }, place: 'results', limit });
  return { asked, read };
}

it.each(['listProjects', 'listAuditRecords'] as const)('%s: every page is read, each row once', async (id) => {
  const { asked, read } = listing();
  expect(await read(id, Number.MAX_SAFE_INTEGER)).toEqual({ rows: ALL, more: false });
  expect(asked).toHaveLength(3);
  expect(asked.every((each) => each?.name === 'x')).toBe(true);
  expect((await read(id, 250)).more).toBe(false);
  expect(await read(id, 249)).toEqual({ rows: ALL.slice(0, 249), more: true });
  expect(await read(id, 3)).toEqual({ rows: [0, 1, 2], more: true });
});
