import { secondOf } from '../../../lib/calendar-time.ts';
import type { FieldProblem } from '../../../lib/errors.ts';
import type { NewList } from './schema.ts';

const MOST_AHEAD_MS = 10 * 366 * 86_400_000;

/** Returns what is wrong with whom a list is for, and since when. */
export function listProblems(list: NewList, from: Date, now: Date): FieldProblem[] {
  return [...holderProblems(list), ...timeProblems(from, now)];
}

function holderProblems({ scope, id }: NewList): FieldProblem[] {
  if (scope === 'everyone' && id !== undefined) {
    return [{ field: 'id', message: 'Must be left out of what is for everyone.' }];
  }
  if (scope !== 'everyone' && id === undefined) {
    return [{ field: 'id', message: `Is required: the ${scope} that it is for.` }];
  }
  return [];
}

function timeProblems(from: Date, now: Date): FieldProblem[] {
  const field = 'valid_from';
  if (from.getTime() < secondOf(now).getTime()) {
    return [{ field, message: 'Must not be in the past: what is over does not change.' }];
  }
  if (from.getTime() - now.getTime() > MOST_AHEAD_MS)
    return [{ field, message: 'Must be within ten years.' }];
  return [];
}
