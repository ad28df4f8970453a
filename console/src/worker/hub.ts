import { followEvents } from './events.ts';
import { type ApiResponse, type Asked, identityOf, type Said } from './messages.ts';
import { SessionKeeper } from './session.ts';

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

  function answerOf(asked: Exclude<Asked, { ask: 'leave' }>): Promise<ApiResponse> {
    switch (asked.ask) {
      case 'call':
        return keeper.call(asked.request);
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
    port.onmessage = async ({ data: asked }: MessageEvent<Asked>) => {
      if (asked.ask === 'leave') return void ports.delete(port);
      const { id } = asked;
      try {
        port.postMessage({ say: 'answer', id, response: await answerOf(asked) } satisfies Said);
      } catch {
        port.postMessage({ say: 'failed', id, message: 'The server can’t be reached.' } satisfies Said);
      }
    };
    port.postMessage({ say: 'session', session: keeper.session } satisfies Said);
    port.postMessage({ say: 'live', live } satisfies Said);
  };
}
