import { type Dispatch, type SetStateAction, useEffect, useState } from 'react';
import { queries } from './api.ts';

queries.setQueryDefaults(['draft'], { gcTime: 3_600_000 });

/** A state of what somebody enters on a page. It stays for an hour while they look at other pages, until they sign out, or until it is forgotten. */
export function useDraft<Value>(
  name: string,
  initial: Value,
): [value: Value, set: Dispatch<SetStateAction<Value>>, forget: () => void] {
  const queryKey = ['draft', name];
  const [value, set] = useState(() => queries.getQueryData<Value>(queryKey) ?? initial);
  useEffect(() => void queries.setQueryData(['draft', name], value), [name, value]);
  return [value, set, () => queries.removeQueries({ queryKey })];
}
