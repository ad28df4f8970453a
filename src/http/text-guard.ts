import type { FieldProblem } from '../lib/errors.ts';

const MAX_DEPTH = 32;

/**
 * Finds what no field may hold: text that the database can't store (NUL, half a surrogate pair) and nesting
 * so deep that only an attack needs it. Walks without recursion, since the input is a stranger's.
 */
export function textProblem(value: unknown): FieldProblem | undefined {
  const pending: Place[] = [{ value, field: '', depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { field, depth } = next;
    const message = faultAt(next);
    if (message) return { field, message };
    if (typeof next.value !== 'object' || next.value === null) continue;
    for (const [key, child] of Object.entries(next.value)) {
      pending.push({ value: child, field: field === '' ? key : `${field}.${key}`, depth: depth + 1 });
    }
  }
  return undefined;
}

interface Place {
  value: unknown;
  field: string;
  depth: number;
}

/** A fault of the place itself or of a name in it; what the names hold are places of their own. */
function faultAt({ value, depth }: Place): string | undefined {
  if (typeof value === 'string') return faultOf(value);
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_DEPTH) return `is nested more than ${MAX_DEPTH} levels deep`;
  for (const key of Object.keys(value)) {
    const fault = faultOf(key);
    if (fault) return `has a name that ${fault}`;
  }
  return undefined;
}

function faultOf(text: string): string | undefined {
  if (text.includes('\0')) return 'contains the character NUL, which is not allowed';
  return text.isWellFormed() ? undefined : 'contains half of a surrogate pair, which is not valid text';
}
