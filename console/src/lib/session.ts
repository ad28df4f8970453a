import { useSyncExternalStore } from 'react';
import type { Live, Session, Who } from '../worker/messages.ts';
import * as hub from './hub.ts';

export const useSession = (): Session => useSyncExternalStore(hub.session.subscribe, hub.session.get);
export const useLive = (): Live => useSyncExternalStore(hub.live.subscribe, hub.live.get);

/** The signed-in person. @throws Error if nobody is signed in */
export function useWho(): Who {
  const who = useSession()?.who;
  if (!who) throw new Error('Nobody is signed in');
  return who;
}
