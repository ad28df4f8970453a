import { skipToken, useQuery } from '@tanstack/react-query';
import { queries } from './api.ts';

const HOUR_MS = 3_600_000;

/**
 * What somebody enters on a page, which stays for an hour when they look at another page, and goes when they sign out. Like a state of React, with
 * a function that forgets it.
 */
export function useDraft<Value>(name: string, initial: Value) {
  const queryKey = ['draft', name];
  const { data } = useQuery<Value>({ queryKey, queryFn: skipToken, initialData: initial, gcTime: HOUR_MS });
  return [
    data as Value,
    (change: Value | ((before: Value) => Value)) =>
      void queries.setQueryData<Value>(queryKey, (before = initial) =>
        typeof change === 'function' ? (change as (before: Value) => Value)(before) : change,
      ),
    () => queries.removeQueries({ queryKey }),
  ] as const;
}
