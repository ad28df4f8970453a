import type { Api, Input } from './client.ts';
import { type OperationId, operationOf } from './operations.ts';

/** Rows of one request, where the operation sets no smaller limit. */
const PAGE = 100;

export interface Rows {
  rows: unknown[];
  /** Whether there are others. */
  more: boolean;
  /** The answer, if it has another form, such as CSV. */
  text?: string;
}

/** Reads as many rows of a list as are asked for, over as many pages as it takes. */
export async function rowsOf(
  api: Api,
  id: OperationId,
  { input, place, limit }: { input: Input; place: string; limit: number },
): Promise<Rows> {
  const { query } = operationOf(id);
  const sized = query.find(({ name }) => name === 'limit');
  const byToken = query.some(({ name }) => name === 'page_token');
  const byNumber = query.some(({ name }) => name === 'page');
  const rows: unknown[] = [];
  let token: unknown;
  for (;;) {
    // One more than wanted tells whether there are others.
    const size = Math.min(PAGE, sized?.max ?? PAGE, limit + 1 - (byNumber ? 0 : rows.length));
    const page = byToken
      ? { page_token: token }
      : byNumber
        ? { page: Math.round(rows.length / size) + 1 }
        : { offset: rows.length || undefined };
    const parameters = { ...input.parameters, ...(sized && { limit: size, ...page }) };
    const answer = await api.call(id, { ...input, parameters });
    if (typeof answer === 'string') return { rows, more: false, text: answer };
    const found = listIn(answer, place);
    rows.push(...found);
    token = (answer as { next_page_token?: string | null })?.next_page_token ?? undefined;
    const last = !sized || (byToken ? token === undefined : found.length < size);
    if (last || rows.length > limit) return { rows: rows.slice(0, limit), more: rows.length > limit };
  }
}

/** The list in an answer: itself, or one of its fields. */
function listIn(answer: unknown, place: string): unknown[] {
  const list = Array.isArray(answer) ? answer : (answer as Record<string, unknown> | undefined)?.[place];
  return Array.isArray(list) ? list : [];
}
