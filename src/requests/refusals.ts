import type { RefusedCredentials } from '../lib/errors.ts';
import { senderNetwork } from '../lib/ip-addresses.ts';
import type { Clock } from '../lib/time.ts';
import type { ActionLog, NewUserAction } from './action-log.ts';
import { MOST_TEXT, UNPUBLISHED } from './action-of.ts';

/** How many senders of unknown credentials are told apart until the next `flush`; the others are one. */
const MOST_NETWORKS = 100;
/** What is told apart of each account; the rest of it is one more. So nobody hides what happens to others. */
const MOST_OF_ACCOUNT = 100;
/** Of all accounts together. */
const MOST_KNOWN = 10_000;
/** What an account may fill the log with in a day: so many records of what changed nothing. */
export const MOST_A_DAY = 2_000;
const DAY_MS = 86_400_000;

/** A request whose credentials or rights were refused, and that is not recorded as a change. */
export interface RefusedRequest {
  id: string;
  operation: string;
  method: string;
  path: string;
  ip: string;
  userAgent: string | undefined;
  status: 401 | 403;
  /** Whose credentials they are; undefined for those that nobody knows. */
  whose: Pick<RefusedCredentials, 'clientId' | 'tokenId' | 'userId'> | undefined;
  reason: RefusedCredentials['reason'] | 'no right' | 'unknown';
}

/**
 * Records refusals in the audit log. What is refused to the same caller for the same operation and reason is counted, and
 * becomes one row at each `flush`. An account that has had its records of the day has only one more at each `flush`, so
 * nobody can fill the log.
 */
export interface Refusals {
  note(request: RefusedRequest): void;
  /** Records a request for a change that changed nothing: mostly it was refused. */
  noteChange(action: NewUserAction): void;
  /** Hands over what was counted. */
  flush(): void;
}

export function createRefusals(deps: { actionLog: Pick<ActionLog, 'noteLater'>; clock: Clock }): Refusals {
  const { actionLog, clock } = deps;
  const known = new Map<string, NewUserAction>();
  const ofAccounts = new Map<number, number>();
  const strangers = new Map<string, NewUserAction>();
  /** How many records each account has had today. */
  const ofToday = new Map<number, number>();
  let today = 0;

  /** Whether the account may have another record of its own today. */
  function isRoomToday(clientId: number): boolean {
    const day = Math.floor(clock.now().getTime() / DAY_MS);
    if (day !== today) ofToday.clear();
    today = day;
    const had = ofToday.get(clientId) ?? 0;
    if (had >= MOST_A_DAY) return false;
    ofToday.set(clientId, had + 1);
    return true;
  }

  return {
    noteChange(action) {
      const { client_id, outcome } = action;
      if (isRoomToday(client_id)) actionLog.noteLater(action);
      else count(known, `${client_id} ${outcome}`, () => unnamed(action));
    },
    note(request) {
      const { whose, reason, operation, ip } = request;
      if (whose) {
        const { clientId } = whose;
        const key = [clientId, whose.userId, whose.tokenId, reason, operation, ip].join(' ');
        const own = ofAccounts.get(clientId) ?? 0;
        const isNew = !known.has(key);
        const isRoom = own < MOST_OF_ACCOUNT && known.size < MOST_KNOWN;
        if (!isNew || (isRoom && isRoomToday(clientId))) {
          if (isNew) ofAccounts.set(clientId, own + 1);
          count(known, key, () => actionOf(request, clock.now()));
          return;
        }
        count(known, String(clientId), () => unnamed(actionOf(request, clock.now())));
        return;
      }
      const network = senderNetwork(ip);
      const isRoom = strangers.has(network) || strangers.size < MOST_NETWORKS;
      // Nothing but where they come from and how many there are is worth knowing.
      const stranger = { ...request, ip: isRoom ? ip : '', operation: '', path: '', userAgent: undefined };
      count(strangers, isRoom ? network : '', () => actionOf(stranger, clock.now()));
    },
    flush() {
      for (const counted of [known, strangers]) {
        for (const action of counted.values()) actionLog.noteLater(action);
        counted.clear();
      }
      ofAccounts.clear();
    },
  };
}

function count(counted: Map<string, NewUserAction>, key: string, first: () => NewUserAction): void {
  const action = counted.get(key);
  if (action) action.attempts = (action.attempts ?? 0) + 1;
  else counted.set(key, first());
}

/** Stands for what is no longer told apart of an account. */
function unnamed(action: NewUserAction): NewUserAction {
  return {
    ...action,
    user_id: 0,
    token_id: null,
    operation: '',
    path: '',
    project_id: null,
    region_id: null,
    task_id: null,
    source_user_ip: '',
    user_agent: null,
    event_type: null,
    subject: null,
    origin: 'refusal',
    attempts: 1,
  };
}

function actionOf(request: RefusedRequest, timestamp: Date): NewUserAction {
  const { id, operation, method, path, ip, userAgent, status, whose, reason } = request;
  return {
    client_id: whose?.clientId ?? 0,
    user_id: whose?.userId ?? 0,
    token_id: whose?.tokenId ?? null,
    request_id: id,
    operation,
    method,
    path: path.slice(0, MOST_TEXT),
    project_id: null,
    region_id: null,
    task_id: null,
    source_user_ip: ip,
    user_agent: userAgent?.slice(0, MOST_TEXT) ?? null,
    outcome: 'refused',
    status,
    timestamp,
    ...UNPUBLISHED,
    event_type: null,
    subject: null,
    origin: 'refusal',
    reason,
    attempts: 1,
  };
}
