import type { RecordedStatement } from './recorded-statement.ts';

/** What the floor does for one request. Sent to the floor's process as JSON. */
export interface Plan {
  method: string;
  statements: PlannedStatement[];
  /** Ids that are the same in every request. */
  constantIds: string[];
  /** The product's own answer, used if no statement returns a row. */
  answer: unknown;
}

export interface PlannedStatement extends RecordedStatement {
  /** Whether it ran between `begin` and `commit`, on a separate connection. */
  inTransaction: boolean;
}

/**
 * A part of a recorded text: constant, the text that is unique to this request, the n-th id that the request
 * makes, or a column of the first row that an earlier statement returned.
 */
export type Part = { text: string } | { unique: true } | { fresh: number } | { statement: number; column: string };

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const NOW = /'\d{4}-\d\d-\d\dT[\d:.]+Z'/;
const VARIABLE = /bench-[0-9a-f]{12}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

export interface Recorded {
  statements: RecordedStatement[];
  answer: unknown;
}

/**
 * Makes a plan from two recordings of the same operation; the second shows what differs between calls.
 * @throws Error if the product doesn't send the same statements each time
 */
export function planOf(method: string, first: Recorded, second: Recorded): Plan {
  if (textsOf(first) !== textsOf(second)) {
    throw new Error(`Two calls sent different statements:\n${textsOf(first)}\n-- and --\n${textsOf(second)}`);
  }
  let inTransaction = false;
  const statements = first.statements.map((statement) => {
    if (/^(begin|start transaction)\b/i.test(statement.text)) inTransaction = true;
    const planned = { ...statement, inTransaction };
    if (/^(commit|rollback)$/i.test(statement.text)) inTransaction = false;
    return planned;
  });
  const constantIds = JSON.stringify(second.statements).match(UUID) ?? [];
  return { method, statements, constantIds: [...new Set(constantIds)], answer: first.answer };
}

/** Returns the statements, but for the product's time, which begins each transaction. */
function textsOf({ statements }: Recorded): string {
  return statements.map(({ text }) => text.replace(NOW, "'now'")).join(';\n');
}

/** Splits a recorded text. Ids that the request makes are added to `freshIds` in their order. */
export function partsOf(text: string, plan: Plan, freshIds: string[]): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(VARIABLE)) {
    if (plan.constantIds.includes(found)) continue;
    if (index > from) parts.push({ text: text.slice(from, index) });
    parts.push(variable(found, plan, freshIds));
    from = index + found.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from) });
  return parts;
}

function variable(found: string, plan: Plan, freshIds: string[]): Part {
  if (found.startsWith('bench-')) return { unique: true };
  if (!freshIds.includes(found)) {
    for (const [statement, { firstRow }] of plan.statements.entries()) {
      const column = Object.keys(firstRow).find((name) => firstRow[name] === found);
      if (column !== undefined && /^\s*(select|with)\b/i.test(plan.statements[statement]?.text ?? '')) {
        return { statement, column };
      }
    }
    freshIds.push(found);
  }
  return { fresh: freshIds.indexOf(found) };
}
