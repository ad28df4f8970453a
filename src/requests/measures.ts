import { Counter, type Registry } from 'prom-client';

/** What an API process measures of those who ask, besides their requests. */
export interface RequestMeasures {
  /** Somebody has given a password. `limited`: it was not looked at, since there were too many wrong ones. */
  passwordGiven(outcome: 'right' | 'wrong' | 'limited'): void;
  /** A request was refused since its token, or its address without a token, had made too many. */
  limited(by: 'token' | 'address'): void;
}

export function createRequestMeasures(registry: Registry): RequestMeasures {
  const registers = [registry];
  const passwords = new Counter({
    name: 'tradewind_passwords_total',
    help: 'Passwords that were given to log in or to change something important; limited: after too many wrong ones',
    labelNames: ['outcome'],
    registers,
  });
  const refused = new Counter({
    name: 'tradewind_rate_limited_total',
    help: 'Requests beyond the rate limit of their token, or of their address without a token',
    labelNames: ['by'],
    registers,
  });
  // Rates can be computed from the first one on.
  for (const outcome of ['right', 'wrong', 'limited']) passwords.inc({ outcome }, 0);
  for (const by of ['token', 'address']) refused.inc({ by }, 0);
  return {
    passwordGiven: (outcome) => passwords.inc({ outcome }),
    limited: (by) => refused.inc({ by }),
  };
}
