import type { FieldProblem } from '../lib/errors.ts';

const MAX_DEPTH = 32;

/**
 * Finds what no field may hold: text that the database can't store (NUL, half a surrogate pair) and nesting
 * so deep that only an attack needs it. Walks without recursion, since the input is a stranger's.
 */
export function textProblem(value: unknown): FieldProblem | undefined {
  const pending: { value: unknown; field: string; depth: number }[] = [{ value, field: '', depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value: item, field, depth } = next;
    if (typeof item === 'string') {
      const problem = faultOf(item);
      if (problem) return { field, message: problem };
    } else if (typeof item === 'object' && item !== null) {
      if (depth === MAX_DEPTH) return { field, message: `is nested more than ${MAX_DEPTH} levels deep` };
      for (const [key, child] of Object.entries(item)) {
        const path = field === '' ? key : `${field}.${key}`;
        const problem = faultOf(key);
        if (problem) return { field, message: `has a name that ${problem}` };
        pending.push({ value: child, field: path, depth: depth + 1 });
      }
    }
  }
  return undefined;
}

function faultOf(text: string): string | undefined {
  if (text.includes('\0')) return 'contains the character NUL, which is not allowed';
  return text.isWellFormed() ? undefined : 'contains half of a surrogate pair, which is not valid text';
}
