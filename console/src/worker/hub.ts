import { followEvents } from './events.ts';
import { type ApiResponse, type Asked, identityOf, type Progress, type Said } from './messages.ts';
import { BrokenOff, SessionKeeper, type Watch } from './session.ts';

/** Serves all pages of the browser: one session, one stream of events. Returns what takes a page's port. */
export function createHub(): (port: MessagePort) => void {
  const ports = new Set<MessagePort>();
  const tell = (said: Said) => {
    for (const port of ports) port.postMessage(said);
  };
  let following: { stop(): void } | undefined;
  let whose: string | undefined;
  let live: Extract<Said, { say: 'live' }>['live'] = 'off';
  const tellLive = (now: typeof live) => {
    if (now === live) return;
    live = now;
    tell({ say: 'live', live });
  };

  const keeper = new SessionKeeper((session) => {
    tell({ say: 'session', session });
    const who = identityOf(session);
    if (who === whose) return;
    whose = who;
    following?.stop();
    following =
      who === undefined
        ? undefined
        : followEvents(keeper, {
            live: tellLive,
            events: (events) => tell({ say: 'events', events }),
            readAgain: () => tell({ say: 'read-again' }),
          });
    if (!following) tellLive('off');
  });
  void keeper.begin();

  function answerOf(asked: Exclude<Asked, { ask: 'cancel' | 'leave' }>, watch: Watch): Promise<ApiResponse> {
    switch (asked.ask) {
      case 'call':
        return keeper.call(asked.request, asked.most === undefined ? undefined : watch);
      case 'sign-in':
        return keeper.signIn(asked.credentials);
      case 'act-as':
        return keeper.actAs(asked.clientId);
      case 'sign-out':
        return keeper.signOut();
    }
  }

  return (port) => {
    ports.add(port);
    const running = new Map<number, AbortController>();
    port.onmessage = async ({ data: asked }: MessageEvent<Asked>) => {
      if (asked.ask === 'leave') {
        for (const one of running.values()) one.abort();
        return void ports.delete(port);
      }
      const { id } = asked;
      if (asked.ask === 'cancel') return running.get(id)?.abort();
      const controller = new AbortController();
      running.set(id, controller);
      const watch = {
        most: ('most' in asked && asked.most) || 0,
        signal: controller.signal,
        tell: (progress: Progress) => port.postMessage({ say: 'progress', id, progress } satisfies Said),
      };
      try {
        port.postMessage({ say: 'answer', id, response: await answerOf(asked, watch) } satisfies Said);
      } catch (error) {
        const message = error instanceof BrokenOff ? error.message : 'The server can’t be reached.';
        port.postMessage({ say: 'failed', id, message } satisfies Said);
      } finally {
        running.delete(id);
      }
    };
    port.postMessage({ say: 'session', session: keeper.session } satisfies Said);
    port.postMessage({ say: 'live', live } satisfies Said);
  };
}
